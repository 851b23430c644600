/// The fields of an IP packet that routing inside the tunnel needs.
struct InnerPacket: Equatable, Sendable {
    var isIPv6: Bool
    var source: AddressBits
    var destination: AddressBits
    /// The number of bytes according to the header.
    var byteCount: Int

    /// Reads the header; nil if the packet is neither IPv4 nor IPv6 or shorter than its header states.
    init?(_ packet: UnsafeRawBufferPointer) {
        guard let version = unsafe packet.first.map({ $0 >> 4 }) else { return nil }
        switch version {
        case 4 where packet.count >= 20:
            isIPv6 = false
            source = AddressBits(high: unsafe Self.word(packet, at: 12) << 32, low: 0)
            destination = AddressBits(high: unsafe Self.word(packet, at: 16) << 32, low: 0)
            byteCount = unsafe Int(Self.word(packet, at: 0) & 0xFFFF)
            guard byteCount >= 20 else { return nil }
        case 6 where packet.count >= 40:
            isIPv6 = true
            source = unsafe Self.bits(packet, at: 8)
            destination = unsafe Self.bits(packet, at: 24)
            byteCount = unsafe Int(Self.word(packet, at: 4) >> 16) + 40
        default:
            return nil
        }
        guard byteCount <= packet.count else { return nil }
    }

    private static func word(_ packet: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        UInt64(unsafe UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    private static func bits(_ packet: UnsafeRawBufferPointer, at offset: Int) -> AddressBits {
        unsafe AddressBits(
            high: word(packet, at: offset) << 32 | word(packet, at: offset + 4),
            low: word(packet, at: offset + 8) << 32 | word(packet, at: offset + 12)
        )
    }
}
