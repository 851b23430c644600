internal import CQUICShim
internal import Concurrency
internal import Identity
internal import TestSupport
internal import Transport

@testable internal import QUIC

/// A UDP socket that speaks no QUIC, for the parts of unknown sockets and routers.
@safe
final class RawSocket: @unchecked Sendable {
    /// A datagram and its control data.
    struct Arrival: Equatable {
        let bytes: [UInt8]
        let source: SocketAddress?
        let destination: SocketAddress?
        /// The two bits of explicit congestion notification.
        let mark: UInt8
    }

    let address: SocketAddress
    let raw: OpaquePointer
    private let batch: OpaquePointer

    convenience init(on host: String = "127.0.0.1") throws {
        let wanted = try SocketAddress(parsing: host.contains(":") ? "[\(host)]:0" : "\(host):0")
        try unsafe self.init { address, error in
            address = ru_addr(wanted)
            return unsafe ru_udp_bind(&address, &error)
        }
    }

    /// Takes over a bound socket, which stays the caller's on failure.
    convenience init(adopting descriptor: Int32) throws {
        try unsafe self.init { unsafe ru_udp_adopt(descriptor, &$0, &$1) }
    }

    private init(_ make: (inout ru_addr, inout Int32) -> OpaquePointer?) throws {
        var engineAddress = ru_addr()
        var error: Int32 = 0
        guard let raw = unsafe make(&engineAddress, &error), let batch = unsafe ru_batch_new(),
            let bound = engineAddress.socketAddress
        else { throw Failure(code: error) }
        unsafe self.raw = unsafe raw
        unsafe self.batch = unsafe batch
        address = bound
    }

    /// The error number with which the system refused a socket.
    struct Failure: Error, Equatable {
        let code: Int32
    }

    deinit {
        unsafe ru_udp_free(raw)
        unsafe ru_batch_free(batch)
    }

    /// Sends one datagram, or a GSO batch of datagrams of `segment` bytes; false if the system refused.
    @discardableResult func send(
        _ bytes: [UInt8],
        to remote: SocketAddress,
        from local: SocketAddress? = nil,
        mark: UInt8 = 0,
        segment: Int? = nil
    ) -> Bool {
        var remote = ru_addr(remote)
        var from = local.map(ru_addr.init) ?? ru_addr()
        return unsafe ru_udp_send(raw, &from, &remote, mark, bytes, bytes.count, segment ?? bytes.count) == 0
    }

    /// Returns the datagrams that have arrived by now, without waiting.
    func received() -> [Arrival] {
        var arrivals: [Arrival] = []
        while true {
            let count = unsafe ru_udp_receive(raw, batch)
            guard count > 0 else { return arrivals }
            for index in 0..<count {
                guard let batch = unsafe ru_batch_incoming(batch, index) else { continue }
                unsafe arrivals.append(contentsOf: Self.arrivals(of: batch.pointee))
            }
        }
    }

    /// Waits until something has arrived; empty when `waker` rang instead.
    func received(or waker: Waker) -> [Arrival] {
        let sockets: [OpaquePointer?] = unsafe [raw]
        var isReadable = false
        unsafe sockets.withUnsafeBufferPointer {
            unsafe rq_waker_wait(waker.raw, $0.baseAddress, $0.count, .max, &isReadable)
        }
        return isReadable ? received() : []
    }

    /// The next `count` datagrams, however long they take.
    func next(_ count: Int) async throws -> [Arrival] {
        guard let waker = Waker() else { throw TransportError.initializationFailed("no event descriptor") }
        let isCancelled = Locked(false)
        return try await withTaskCancellationHandler {
            try await aside { [self] in
                var arrivals: [Arrival] = []
                while arrivals.count < count {
                    guard !isCancelled.withLock(\.self) else { throw CancellationError() }
                    arrivals += received(or: waker)
                }
                return arrivals
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
            waker.wake()
        }
    }

    private static func arrivals(of batch: ru_incoming) -> [Arrival] {
        let bytes = unsafe Array(UnsafeBufferPointer(start: batch.bytes, count: batch.length))
        let step = unsafe max(1, batch.segment)
        return stride(from: 0, to: bytes.count, by: step).map { start in
            unsafe Arrival(
                bytes: Array(bytes[start..<min(bytes.count, start + step)]),
                source: batch.source.socketAddress,
                destination: batch.destination.socketAddress,
                mark: batch.ecn
            )
        }
    }
}

extension RawSocket {
    /// A datagram that any endpoint answers at once: an Initial of an unsupported version.
    static let question: [UInt8] =
        [0xC0, 0x1A, 0x2A, 0x3A, 0x4A, 8] + [UInt8](repeating: 1, count: 8) + [8] + [UInt8](repeating: 2, count: 8)
        + [UInt8](repeating: 0, count: 1177)

    /// Whether a datagram is the answer to ``question``.
    static func isAnswer(_ bytes: [UInt8]) -> Bool {
        bytes.count > 5 && bytes[0] & 0x80 != 0 && bytes[1...4] == [0, 0, 0, 0]
    }
}
