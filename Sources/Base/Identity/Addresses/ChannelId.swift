package import Bytes

/// The number of a channel through a relay, drawn at random by the relay.
///
/// A transport reaches the far end of a channel under an address of its own, ``address``, in the discard-only prefix
/// 100::/64 (RFC 6666), so no packet on a network has this source or destination.
public struct ChannelId: Hashable, Sendable {
    /// 7 bytes on the wire.
    package static let byteCount = 7

    private static let prefix: UInt64 = 0x0100_0000_0000_0000
    private static let port: UInt16 = 9

    /// Below 2^56.
    public let number: UInt64

    /// Takes the low 56 bits.
    public init(_ number: UInt64) {
        self.number = number & (1 << 56 - 1)
    }

    /// The channel whose far end the address denotes; nil for every other address.
    public init?(address: SocketAddress) {
        guard case .v6(Self.prefix, let low, 0) = address.ip, address.port == Self.port, low >> 56 == 0 else {
            return nil
        }
        self.init(low)
    }

    /// Reads 7 bytes.
    package init(reading reader: inout ByteReader) throws(BytesError) {
        self.init(try reader.readBytes(count: Self.byteCount).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The number in network order.
    package var bytes: [UInt8] { (0..<Self.byteCount).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

    /// The address that stands for the far end.
    public var address: SocketAddress {
        SocketAddress(.v6(high: Self.prefix, low: number, scope: 0), port: Self.port)
    }
}

extension ChannelId: Comparable {
    /// Orders by number.
    public static func < (left: ChannelId, right: ChannelId) -> Bool { left.number < right.number }
}
