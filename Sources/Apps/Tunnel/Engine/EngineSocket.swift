internal import CUDPShim
internal import Identity
internal import Libc
internal import WireGuard

/// A UDP socket as one thread uses it: batches of datagrams in one system call where the kernel has GSO and GRO.
///
/// Several threads may use the same socket, each with its own duplicate, because a batch that the kernel has no room for
/// waits in here.
@safe
final class EngineSocket {
    /// The most bytes and datagrams of one batch to send.
    private static let batchByteLimit = Int(RU_GSO_BYTES)
    private static let batchCountLimit = Int(RU_GSO_SEGMENTS)

    private let handle: OpaquePointer
    private let batch: OpaquePointer
    /// The descriptor to wait on.
    let descriptor: Int32
    /// The port that the socket is bound to.
    let port: UInt16
    let isIPv6: Bool

    /// Uses a duplicate of a bound socket.
    init(duplicating descriptor: Int32) throws(TunnelError) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .portNotBound(port: 0, code: errno) }
        var address = ru_addr()
        var code: Int32 = 0
        guard let handle = unsafe ru_udp_adopt(copy, &address, &code) else {
            _ = close(copy)
            throw .portNotBound(port: 0, code: code)
        }
        guard let batch = unsafe ru_batch_new() else {
            unsafe ru_udp_free(handle)
            throw .portNotBound(port: address.port, code: ENOMEM)
        }
        // Without it a datagram that is too long for its path is lost.
        unsafe ru_udp_allow_fragments(handle)
        unsafe self.handle = handle
        unsafe self.batch = batch
        self.descriptor = copy
        port = address.port
        isIPv6 = address.family == 6
    }

    deinit {
        unsafe ru_batch_free(batch)
        unsafe ru_udp_free(handle)
    }

    /// Appends the waiting datagrams, those of one system call; returns whether any was waiting.
    func receive(into datagrams: inout DatagramBatch) -> Bool {
        let count = unsafe ru_udp_receive(handle, batch)
        for index in 0..<count {
            guard let incoming = unsafe ru_batch_incoming(batch, index), let bytes = unsafe incoming.pointee.bytes,
                let source = unsafe incoming.pointee.source.socketAddress
            else { continue }
            let all = unsafe UnsafeRawBufferPointer(start: bytes, count: incoming.pointee.length)
            let segment = max(1, unsafe incoming.pointee.segment)
            for start in stride(from: 0, to: all.count, by: segment) {
                let piece = unsafe UnsafeRawBufferPointer(rebasing: all[start..<min(all.count, start + segment)])
                unsafe datagrams.append(piece, endpoint: source)
            }
        }
        return count > 0
    }

    /// Sends the datagrams of this family, in order.
    ///
    /// If it `waits` it waits for room in the socket; otherwise datagrams without room are lost.
    func send(_ datagrams: borrowing DatagramBatch, waits: Bool) {
        unsafe datagrams.memory.withUnsafeBytes { memory in
            var first = 0
            while first < datagrams.count {
                let run = Self.run(of: datagrams, from: first)
                first = run.end
                guard run.endpoint.isIPv6 == isIPv6 else { continue }
                unsafe send(UnsafeRawBufferPointer(rebasing: memory[run.bytes]), run, waits: waits)
            }
        }
        // Without a next batch nothing else would send the last run.
        if waits { sendWaiting() }
    }

    /// Sends one datagram of this family, waiting for no room.
    func send(_ datagram: [UInt8], to endpoint: SocketAddress) {
        let run = Run(end: 1, bytes: 0..<datagram.count, segment: datagram.count, endpoint: endpoint)
        unsafe datagram.withUnsafeBytes { unsafe send($0, run, waits: false) }
    }

    /// Datagrams of one length to one address, the last of which may be shorter.
    private struct Run {
        var end: Int
        var bytes: Range<Int>
        var segment: Int
        var endpoint: SocketAddress
    }

    private static func run(of datagrams: borrowing DatagramBatch, from first: Int) -> Run {
        let start = datagrams.datagrams[first]
        var run = Run(end: first + 1, bytes: start.range, segment: start.range.count, endpoint: start.endpoint)
        while run.end < datagrams.count, run.end - first < batchCountLimit {
            let next = datagrams.datagrams[run.end]
            guard next.endpoint == run.endpoint, next.range.count <= run.segment,
                next.range.lowerBound == run.bytes.upperBound,
                run.bytes.count + next.range.count <= batchByteLimit
            else { break }
            run.bytes = run.bytes.lowerBound..<next.range.upperBound
            run.end += 1
            guard next.range.count == run.segment else { break }
        }
        return run
    }

    private func send(_ bytes: UnsafeRawBufferPointer, _ run: Run, waits: Bool) {
        if waits {
            sendWaiting()
        } else if unsafe ru_udp_is_blocked(handle) {
            unsafe ru_udp_flush(handle)
        }
        var destination = ru_addr(run.endpoint)
        // Failures, such as a missing route, are as short-lived as the loss of a datagram.
        _ = unsafe ru_udp_send(
            handle,
            nil,
            &destination,
            0,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            bytes.count,
            run.segment
        )
    }

    /// Sends the datagrams that the kernel had no room for, after at most 100 ms.
    private func sendWaiting() {
        guard unsafe ru_udp_is_blocked(handle) else { return }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&entry, 1, 100)
        unsafe ru_udp_flush(handle)
    }
}

extension ru_addr {
    /// The shim's form of an address.
    fileprivate init(_ address: SocketAddress) {
        self.init()
        family = address.isIPv6 ? 6 : 4
        port = address.port
        scope = address.scope
        switch address.ip {
        case .v4(let word):
            unsafe withUnsafeMutableBytes(of: &ip) { unsafe $0.storeBytes(of: word.bigEndian, as: UInt32.self) }
        case .v6(let high, let low, _):
            unsafe withUnsafeMutableBytes(of: &ip) {
                unsafe $0.storeBytes(of: high.bigEndian, as: UInt64.self)
                unsafe $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
        }
    }

    /// Our form of an address; nil for another family.
    fileprivate var socketAddress: SocketAddress? {
        var bytes = ip
        return unsafe withUnsafeBytes(of: &bytes) { memory in
            switch family {
            case 4: SocketAddress(.v4(unsafe UInt32(bigEndian: memory.loadUnaligned(as: UInt32.self))), port: port)
            case 6:
                SocketAddress(
                    .v6(
                        high: unsafe UInt64(bigEndian: memory.loadUnaligned(as: UInt64.self)),
                        low: unsafe UInt64(bigEndian: memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                        scope: scope
                    ),
                    port: port
                )
            default: nil
            }
        }
    }
}
