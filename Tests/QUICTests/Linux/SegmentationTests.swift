#if os(Linux)
internal import CQUICShim
internal import Concurrency
internal import Glibc
internal import Identity
internal import Testing

/// Batches that the kernel refuses, as one socket sends them.
@Suite("Segmentation", .timeLimit(.minutes(5))) struct SegmentationTests {
    /// The calls that a socket makes to the kernel, and the errors that replace the kernel's answer.
    private final class Calls: Sendable {
        /// The numbers of datagrams in the calls.
        let counts = Locked<[Int]>([])
        let errors: Locked<[Int32]>

        init(failing errors: [Int32]) { self.errors = Locked(errors) }

        func observe(_ socket: RawSocket) {
            unsafe ru_udp_set_fault(
                socket.raw,
                { context, _, _, length, segment in
                    guard let context = unsafe context else { return 0 }
                    let calls = unsafe Unmanaged<Calls>.fromOpaque(context).takeUnretainedValue()
                    calls.counts.withLock { $0.append((length + segment - 1) / segment) }
                    return calls.errors.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
                },
                Unmanaged.passUnretained(self).toOpaque()
            )
        }
    }

    private static let batch = [UInt8](repeating: 1, count: 500) + [2]

    /// Sends two batches of six datagrams, the last of which is shorter, while `errors` replace the kernel's answers.
    private func send(failing errors: [Int32], isSent: Bool = true) async throws -> [Int] {
        let (sender, receiver) = (try RawSocket(), try RawSocket())
        let calls = Calls(failing: errors)
        calls.observe(sender)
        #expect(sender.send(Self.batch, to: receiver.address, segment: 100) == isSent)
        #expect(sender.send(Self.batch, to: receiver.address, segment: 100))
        let lost = errors.dropFirst().count { $0 != 0 }
        let received = try await receiver.next(12 - lost)
        #expect(received.suffix(6).map(\.bytes.count) == [100, 100, 100, 100, 100, 1])
        return withExtendedLifetime(calls) { calls.counts.withLock { $0 } }
    }

    @Test func `a batch that the system refuses as invalid does not cost the segmentation (2)`() async throws {
        #expect(try await send(failing: [EINVAL]) == [6, 1, 1, 1, 1, 1, 1, 6])
    }

    @Test func `segments above the MTU do not cost the segmentation of later batches`() async throws {
        // Only the short last datagram leaves.
        let errors = [EINVAL, EMSGSIZE, EMSGSIZE, EMSGSIZE, EMSGSIZE, EMSGSIZE]
        #expect(try await send(failing: errors, isSent: false) == [6, 1, 1, 1, 1, 1, 1, 6])
    }

    @Test func `an interface without checksum offload ends the segmentation`() async throws {
        #expect(try await send(failing: [EIO]) == [6] + [Int](repeating: 1, count: 12))
    }

    @Test func `an unreachable address does not cost the segmentation`() async throws {
        let errors = [Int32](repeating: EIO, count: 7)
        #expect(try await send(failing: errors, isSent: false) == [6, 1, 1, 1, 1, 1, 1, 6])
    }

    @Test func `the kernel refuses a batch of too many segments and takes the next one`() async throws {
        let (sender, receiver) = (try RawSocket(), try RawSocket())
        let calls = Calls(failing: [])
        calls.observe(sender)
        #expect(sender.send([UInt8](repeating: 1, count: 200), to: receiver.address, segment: 1))
        #expect(sender.send(Self.batch, to: receiver.address, segment: 100))
        #expect(try await receiver.next(206).count == 206)
        #expect(calls.counts.withLock { $0 } == [200] + [Int](repeating: 1, count: 200) + [6])
    }
}
#endif
