#if os(Linux)
/// A UDP datagram inside an IPv4 packet, as a tunnel carries it.
struct InnerDatagram: Equatable {
    private static let headerByteCount = 28

    var source: (address: UInt32, port: UInt16)
    var destination: (address: UInt32, port: UInt16)
    var payload: [UInt8]

    static func == (left: Self, right: Self) -> Bool {
        left.source == right.source && left.destination == right.destination && left.payload == right.payload
    }

    init(from source: (UInt32, UInt16), to destination: (UInt32, UInt16), _ payload: [UInt8]) {
        self.source = source
        self.destination = destination
        self.payload = payload
    }

    /// Reads a packet without options and fragments; nil for any other packet.
    init?(packet: [UInt8]) {
        guard packet.count >= Self.headerByteCount, packet[0] == 0x45, packet[9] == 17 else { return nil }
        func number(_ start: Int, _ count: Int) -> UInt32 {
            packet[start..<start + count].reduce(0) { $0 << 8 | UInt32($1) }
        }
        let byteCount = Int(number(2, 2))
        guard byteCount >= Self.headerByteCount, byteCount <= packet.count else { return nil }
        source = (number(12, 4), UInt16(number(20, 2)))
        destination = (number(16, 4), UInt16(number(22, 2)))
        payload = [UInt8](packet[Self.headerByteCount..<byteCount])
    }

    /// The packet with its checksum; the datagram has none, which UDP over IPv4 allows.
    var packet: [UInt8] {
        func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
            (0..<number.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        let byteCount = Self.headerByteCount + payload.count
        var packet: [UInt8] = [0x45, 0] + bytes(UInt16(byteCount)) + [0, 0, 0x40, 0, 64, 17, 0, 0]
        packet += bytes(source.address) + bytes(destination.address)
        var sum = stride(from: 0, to: 20, by: 2).reduce(UInt32(0)) {
            $0 + UInt32(packet[$1]) << 8 + UInt32(packet[$1 + 1])
        }
        while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
        packet.replaceSubrange(10..<12, with: bytes(~UInt16(sum)))
        packet += bytes(source.port) + bytes(destination.port) + bytes(UInt16(8 + payload.count)) + [0, 0]
        return packet + payload
    }
}
#endif
