/// The places of the headers of an IP packet (RFC 791, RFC 8200).
struct PacketLayout: Equatable, Sendable {
    /// The protocol numbers that the offloads treat.
    enum Transport: UInt8, Sendable {
        case tcp = 6
        case udp = 17
    }

    /// The most extension headers that are passed over.
    static let extensionLimit = 8
    static let tcpMinimum = 20
    static let udpLength = 8

    var isIPv6: Bool
    /// The number of bytes of the IP header with its extensions.
    var networkLength: Int
    var transport: Transport
    /// The number of bytes of all headers.
    var headerLength: Int

    /// Reads the headers of the packet at `place`; throws for fragments, other protocols and damaged headers.
    init(of bytes: [UInt8], at place: Range<Int>) throws(OffloadError) {
        guard !place.isEmpty else { throw .truncated }
        let next: UInt8
        switch bytes[place.lowerBound] >> 4 {
        case 4:
            isIPv6 = false
            (networkLength, next) = try Self.readIPv4(bytes, place)
        case 6:
            isIPv6 = true
            (networkLength, next) = try Self.readIPv6(bytes, place)
        default: throw .inconsistentHeaders
        }
        guard let transport = Transport(rawValue: next) else { throw .inconsistentHeaders }
        self.transport = transport
        let start = place.lowerBound + networkLength
        switch transport {
        case .tcp:
            guard place.upperBound - start >= Self.tcpMinimum else { throw .truncated }
            let length = Int(bytes[start + 12] >> 4) * 4
            guard length >= Self.tcpMinimum else { throw .inconsistentHeaders }
            headerLength = networkLength + length
        case .udp: headerLength = networkLength + Self.udpLength
        }
        guard headerLength <= place.count else { throw .truncated }
    }

    private static func readIPv4(_ bytes: [UInt8], _ place: Range<Int>) throws(OffloadError) -> (Int, UInt8) {
        let start = place.lowerBound
        guard place.count >= 20 else { throw .truncated }
        let length = Int(bytes[start] & 0xF) * 4
        // More fragments, or an offset.
        guard length >= 20, bytes.word16(at: start + 6) & 0x3FFF == 0 else { throw .inconsistentHeaders }
        guard length <= place.count else { throw .truncated }
        return (length, bytes[start + 9])
    }

    private static func readIPv6(_ bytes: [UInt8], _ place: Range<Int>) throws(OffloadError) -> (Int, UInt8) {
        let start = place.lowerBound
        guard place.count >= 40 else { throw .truncated }
        var (length, next) = (40, bytes[start + 6])
        var passed = 0
        // Hop-by-hop options, routing and destination options; a fragment header ends the walk and is refused.
        while next == 0 || next == 43 || next == 60 {
            guard passed < extensionLimit else { throw .inconsistentHeaders }
            guard place.count - length >= 8 else { throw .truncated }
            next = bytes[start + length]
            length += (Int(bytes[start + length + 1]) + 1) * 8
            guard length <= place.count else { throw .truncated }
            passed += 1
        }
        return (length, next)
    }

    /// The place of the transport checksum, counted from the beginning of the packet.
    var checksumPlace: Int { networkLength + (transport == .tcp ? 16 : 6) }

    /// The sum of the pseudo-header (RFC 9293, section 3.1; RFC 8200, section 8.1) of a packet that begins at `start`.
    func pseudoHeader(of bytes: [UInt8], at start: Int, transportLength: Int) -> InternetChecksum {
        var sum = InternetChecksum()
        sum.add(bytes, isIPv6 ? start + 8..<start + 40 : start + 12..<start + 20)
        sum.add(UInt16(transport.rawValue))
        sum.add(UInt16(truncatingIfNeeded: transportLength >> 16))
        sum.add(UInt16(truncatingIfNeeded: transportLength))
        return sum
    }

    /// Writes the length of a packet of `count` bytes at `start` into its IP header, with the checksum of IPv4.
    func setNetworkLength(of bytes: inout [UInt8], at start: Int, _ count: Int) {
        guard !isIPv6 else { return bytes.set(UInt16(truncatingIfNeeded: count - 40), at: start + 4) }
        bytes.set(UInt16(truncatingIfNeeded: count), at: start + 2)
        bytes.set(UInt16(0), at: start + 10)
        var sum = InternetChecksum()
        sum.add(bytes, start..<start + networkLength)
        bytes.set(sum.value, at: start + 10)
    }
}
