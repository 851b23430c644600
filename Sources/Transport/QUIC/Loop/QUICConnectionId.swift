internal import CQUICShim

/// A QUIC connection id of at most 20 bytes, without heap storage.
struct QUICConnectionId: Hashable, Sendable {
    private let head: UInt64
    private let middle: UInt64
    private let tail: UInt32
    private let length: UInt8

    init(_ cid: rq_cid) {
        var bytes = cid.bytes
        length = cid.length
        (head, middle, tail) = unsafe withUnsafeBytes(of: &bytes) { raw in
            unsafe (
                raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                raw.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
            )
        }
    }
}
