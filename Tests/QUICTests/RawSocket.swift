internal import CQUICShim
internal import Identity
internal import Transport

@testable internal import QUIC

/// A UDP socket that speaks no QUIC, for the parts of a stranger.
@safe
final class RawSocket: @unchecked Sendable {
    let address: SocketAddress
    private let raw: OpaquePointer
    private let batch: OpaquePointer

    init(on host: String = "127.0.0.1") throws {
        let wanted = try SocketAddress(parsing: host.contains(":") ? "[\(host)]:0" : "\(host):0")
        var engineAddress = rq_addr(wanted)
        var error: Int32 = 0
        guard let raw = unsafe rq_udp_bind(&engineAddress, &error), let batch = unsafe rq_batch_new(),
            let bound = engineAddress.socketAddress
        else { throw TransportError.initializationFailed("no socket (error \(error))") }
        unsafe self.raw = unsafe raw
        unsafe self.batch = unsafe batch
        address = bound
    }

    deinit {
        unsafe rq_udp_free(raw)
        unsafe rq_batch_free(batch)
    }

    func send(_ bytes: [UInt8], to remote: SocketAddress) {
        var remote = rq_addr(remote)
        _ = unsafe rq_udp_send(raw, nil, &remote, 0, bytes, bytes.count, bytes.count)
    }

    /// What has arrived by now, without waiting.
    func received() -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        while true {
            let count = unsafe rq_udp_receive(raw, batch)
            guard count > 0 else { return datagrams }
            for index in 0..<count {
                guard let train = unsafe rq_batch_train(batch, index) else { continue }
                let bytes = unsafe Array(UnsafeBufferPointer(start: train.pointee.bytes, count: train.pointee.length))
                let step = unsafe max(1, train.pointee.segment)
                for start in stride(from: 0, to: bytes.count, by: step) {
                    datagrams.append(Array(bytes[start..<min(bytes.count, start + step)]))
                }
            }
        }
    }
}
