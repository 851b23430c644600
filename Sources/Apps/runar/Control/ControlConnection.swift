internal import Concurrency
internal import Foundation

/// One end of a control connection: frames in, frames out.
///
/// A thread of its own waits for bytes, because reading blocks; the descriptor is closed when nobody uses it any more.
final class ControlConnection: Sendable {
    /// Frames that wait to be looked at: a client sends one request and then listens.
    private static let frameBuffer = 16
    private static let chunkByteCount = 64 * 1024

    /// The frames that arrive; ends with the connection or at the first broken frame.
    let frames: AsyncStream<[UInt8]>
    private let owner: DescriptorOwner
    private let writing = DispatchQueue(label: "runar.control.write")
    private let problem = Locked<ControlFrame.Failure?>(nil)

    /// Takes over a connected socket.
    init(descriptor: Int32) {
        let owner = DescriptorOwner(descriptor)
        self.owner = owner
        let (frames, continuation) = AsyncStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: .unbounded
        )
        self.frames = frames
        let problem = self.problem
        let thread = Thread {
            Self.read(owner, into: continuation, problem)
        }
        thread.stackSize = 512 * 1024
        thread.start()
    }

    deinit { UnixSocket.shutdown(owner.descriptor) }

    /// Why the frames ended, if the other side broke the rules.
    var brokenRule: ControlFrame.Failure? { problem.withLock { $0 } }

    /// Writes a frame and returns once the system has taken it; false when the other side is gone.
    func write(_ body: [UInt8]) async -> Bool {
        let isWritten = Promise<Bool>()
        writing.async { [owner] in
            var rest = ControlFrame.encode(body)[...]
            while !rest.isEmpty {
                let taken = UnixSocket.send(owner.descriptor, rest)
                if taken < 0, Posix.wasInterrupted { continue }
                guard taken > 0 else { break }
                rest = rest.dropFirst(taken)
            }
            isWritten.fulfil(rest.isEmpty)
        }
        return await isWritten.waitIgnoringCancellation()
    }

    /// Ends both directions; whoever reads or writes learns of it.
    func close() { UnixSocket.shutdown(owner.descriptor) }

    private static func read(
        _ owner: DescriptorOwner,
        into continuation: AsyncStream<[UInt8]>.Continuation,
        _ problem: Locked<ControlFrame.Failure?>
    ) {
        defer { continuation.finish() }
        var buffer: [UInt8] = []
        while true {
            let bytes = Posix.read(owner.descriptor, atMost: chunkByteCount)
            guard !bytes.isEmpty else { return }
            buffer += bytes
            do throws(ControlFrame.Failure) {
                while let frame = try ControlFrame.next(in: &buffer) {
                    if case .terminated = continuation.yield(frame) { return }
                }
            } catch {
                return problem.withLock { $0 = error }
            }
        }
    }
}

/// Closes a descriptor when its last user is gone, so that its number is not given to another file before.
final class DescriptorOwner: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { Posix.close(descriptor) }
}
