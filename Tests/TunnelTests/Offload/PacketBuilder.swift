internal import TestSupport

@testable internal import Tunnel

/// A writer of packets that shares no code with the module under test: its checksums add one word after another.
struct PacketBuilder {
    var isIPv6 = false
    /// The last byte of the source address, which distinguishes flows.
    var host: UInt8 = 2
    var sourcePort: UInt16 = 40_000
    var sequence: UInt32 = 1_000
    var acknowledgment: UInt32 = 77
    var flags: UInt8 = 0x10
    var window: UInt16 = 512
    var options: [UInt8] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]
    var identification: UInt16 = 500
    var mayNotFragment = true
    var trafficClass: UInt8 = 0
    var hopLimit: UInt8 = 64
    /// Options of IPv4 or extension headers of IPv6, whose first byte is overwritten with the next header.
    var networkExtension: [UInt8] = []

    /// A TCP segment with this payload.
    func tcp(_ payload: [UInt8]) -> [UInt8] {
        var segment = Self.word(sourcePort) + Self.word(443) + Self.long(sequence) + Self.long(acknowledgment)
        segment += [UInt8((20 + options.count) / 4) << 4, flags] + Self.word(window) + [0, 0, 0, 0]
        segment += options + payload
        return packet(6, segment, checksumAt: 16)
    }

    /// A UDP datagram with this payload.
    func udp(_ payload: [UInt8]) -> [UInt8] {
        let length = UInt16(truncatingIfNeeded: 8 + payload.count)
        let datagram = Self.word(sourcePort) + Self.word(53) + Self.word(length) + [0, 0] + payload
        return packet(17, datagram, checksumAt: 6)
    }

    private var addresses: [UInt8] {
        guard isIPv6 else { return [10, 66, 0, host, 203, 0, 113, 2] }
        return [0xFD, 0x66] + [UInt8](repeating: 0, count: 13) + [host, 0x20, 1] + [UInt8](repeating: 7, count: 14)
    }

    private func packet(_ number: UInt8, _ transport: [UInt8], checksumAt place: Int) -> [UInt8] {
        var transport = transport
        let pseudo = addresses + [0, number] + Self.word(UInt16(truncatingIfNeeded: transport.count))
        let sum = Self.checksum(pseudo + transport)
        transport.replaceSubrange(place..<place + 2, with: Self.word(number == 17 && sum == 0 ? 0xFFFF : sum))
        return header(number, transport.count) + transport
    }

    private func header(_ number: UInt8, _ length: Int) -> [UInt8] {
        guard !isIPv6 else {
            var extended = networkExtension
            if !extended.isEmpty { extended[0] = number }
            let start: [UInt8] = [0x60 | trafficClass >> 4, trafficClass << 4, 0, 0]
            let size = Self.word(UInt16(truncatingIfNeeded: extended.count + length))
            return start + size + [extended.isEmpty ? number : 60, hopLimit] + addresses + extended
        }
        let headerLength = 20 + networkExtension.count
        var header: [UInt8] = [0x40 | UInt8(headerLength / 4), trafficClass]
        header += Self.word(UInt16(truncatingIfNeeded: headerLength + length)) + Self.word(identification)
        header += [mayNotFragment ? 0x40 : 0, 0, hopLimit, number, 0, 0] + addresses + networkExtension
        header.replaceSubrange(10..<12, with: Self.word(Self.checksum(header)))
        return header
    }

    static func word(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    static func long(_ value: UInt32) -> [UInt8] { word(UInt16(value >> 16)) + word(UInt16(value & 0xFFFF)) }

    /// The checksum of RFC 1071, one word after another.
    static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum = 0
        for index in stride(from: 0, to: bytes.count, by: 2) {
            sum += Int(bytes[index]) << 8 | (index + 1 < bytes.count ? Int(bytes[index + 1]) : 0)
            sum = (sum & 0xFFFF) + sum >> 16
        }
        return UInt16(~sum & 0xFFFF)
    }

    /// Whether the checksums of IPv4 and of the transport agree with a packet without extensions.
    static func isValid(_ packet: [UInt8]) -> Bool {
        let isIPv6 = packet[0] >> 4 == 6
        let start = isIPv6 ? 40 : Int(packet[0] & 0xF) * 4
        let number = isIPv6 ? packet[6] : packet[9]
        let transport = packet[start...]
        let pseudo =
            packet[isIPv6 ? 8..<40 : 12..<20] + [0, number] + word(UInt16(truncatingIfNeeded: transport.count))
        let stated = Int(packet[isIPv6 ? 4 : 2]) << 8 | Int(packet[isIPv6 ? 5 : 3])
        return checksum(Array(pseudo) + transport) == 0 && (isIPv6 || checksum(Array(packet[..<start])) == 0)
            && stated == (isIPv6 ? packet.count - 40 : packet.count)
    }
}

extension PacketSegmentation {
    /// All packets of a frame, through a batch that takes `packetLimit` packets.
    static func packets(
        of frame: ReceivedFrame,
        limit: Int = 1_420,
        packetLimit: Int = 256
    ) throws(OffloadError) -> [[UInt8]] {
        var segmentation = try PacketSegmentation(of: frame, packetByteLimit: limit)
        var batch = PacketBatch(packetLimit: packetLimit)
        var packets: [[UInt8]] = []
        while !segmentation.isComplete {
            batch.removeAll()
            segmentation.write(frame, into: &batch)
            packets += (0..<batch.count).map { Array(batch[$0]) }
        }
        return packets
    }
}

extension SegmentCoalescer {
    /// The frames of these packets, as bytes.
    static func frames(of packets: [[UInt8]]) -> [[UInt8]] {
        var coalescer = SegmentCoalescer(hasVirtualHeader: true)
        var batch = PacketBatch(byteCount: 1 << 20)
        for packet in packets { batch.append(packet[...]) }
        coalescer.coalesce(batch)
        return (0..<coalescer.frames.count).map { coalescer.frames.bytes(of: $0, in: batch) }
    }
}

extension ReceivedFrame {
    /// A frame as a device would return it.
    init(bytes: [UInt8]) throws(OffloadError) {
        self.init(header: try VirtualHeader(bytes), packet: Array(bytes.dropFirst(VirtualHeader.byteCount)))
    }
}
