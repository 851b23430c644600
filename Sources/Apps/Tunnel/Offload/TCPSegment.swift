/// A TCP segment of a batch, as far as joining it concerns.
struct TCPSegment: Sendable {
    static let push: UInt8 = 0x08
    private static let acknowledgment: UInt8 = 0x10
    private static let congestionEcho: UInt8 = 0x40

    let layout: PacketLayout
    /// The place of the packet in the memory of its batch.
    let place: Range<Int>
    let sequence: UInt32
    /// The identification of IPv4; zero in IPv6.
    let identification: UInt16
    private let flags: UInt8
    /// Whether routers may not fragment the packet, as in IPv6.
    let mayNotFragment: Bool
    /// Whether the packet ends where its IP header states.
    private let hasStatedLength: Bool

    /// Reads the headers of a packet; nil for other protocols, fragments and damaged headers.
    init?(_ bytes: [UInt8], _ place: Range<Int>) {
        // Most packets are TCP; the error of the others is of no interest here.
        guard let layout = try? PacketLayout(of: bytes, at: place),  // passes unchanged
            layout.transport == .tcp
        else { return nil }
        self.layout = layout
        self.place = place
        let transport = place.lowerBound + layout.networkLength
        sequence = bytes.word32(at: transport + 4)
        flags = bytes[transport + 13]
        identification = layout.isIPv6 ? 0 : bytes.word16(at: place.lowerBound + 4)
        mayNotFragment = layout.isIPv6 || bytes[place.lowerBound + 6] & 0x40 != 0
        let stated =
            layout.isIPv6
            ? Int(bytes.word16(at: place.lowerBound + 4)) + 40 : Int(bytes.word16(at: place.lowerBound + 2))
        hasStatedLength = stated == place.count
    }

    var payloadLength: Int { place.count - layout.headerLength }

    var isPush: Bool { flags & Self.push != 0 }

    /// Whether the segment carries data and no flag that ends or begins something, and no extension headers.
    var isJoinable: Bool {
        let plain = flags & ~(Self.push | Self.congestionEcho) == Self.acknowledgment
        return plain && payloadLength > 0 && hasStatedLength && (!layout.isIPv6 || layout.networkLength == 40)
    }

    /// Whether two segments have the same addresses and ports.
    func hasSameFlow(as other: Self, in bytes: [UInt8]) -> Bool {
        guard layout.isIPv6 == other.layout.isIPv6 else { return false }
        let (start, second) = (place.lowerBound, other.place.lowerBound)
        let (from, to) = layout.isIPv6 ? (8, 40) : (12, 20)
        guard bytes.hasEqualBytes(start + from..<start + to, as: second + from) else { return false }
        let ports = start + layout.networkLength
        return bytes.hasEqualBytes(ports..<ports + 4, as: second + other.layout.networkLength)
    }

    /// Whether two segments of a flow differ only in length, sequence number, identification, PSH and checksums.
    func hasSameHeaders(as other: Self, in bytes: [UInt8]) -> Bool {
        guard layout == other.layout, flags & ~Self.push == other.flags & ~Self.push else { return false }
        let (start, second) = (place.lowerBound, other.place.lowerBound)
        let same = { (range: Range<Int>) in
            bytes.hasEqualBytes(start + range.lowerBound..<start + range.upperBound, as: second + range.lowerBound)
        }
        let tcp = layout.networkLength
        // Acknowledgment, header length; window; urgent pointer and options.
        guard same(tcp + 8..<tcp + 13), same(tcp + 14..<tcp + 16), same(tcp + 18..<layout.headerLength) else {
            return false
        }
        // Class and flow label, next header, hop limit; class, flags and offset, time to live, protocol, options.
        return layout.isIPv6 ? same(0..<4) && same(6..<8) : same(0..<2) && same(6..<10) && same(20..<tcp)
    }

    /// Whether the checksums of IPv4 and TCP agree with the contents.
    func hasValidChecksums(_ bytes: [UInt8]) -> Bool {
        let transport = place.lowerBound + layout.networkLength
        if !layout.isIPv6 {
            var sum = InternetChecksum()
            sum.add(bytes, place.lowerBound..<transport)
            guard sum.value == 0 else { return false }
        }
        let length = place.upperBound - transport
        var sum = layout.pseudoHeader(of: bytes, at: place.lowerBound, transportLength: length)
        sum.add(bytes, transport..<place.upperBound)
        return sum.value == 0
    }
}
