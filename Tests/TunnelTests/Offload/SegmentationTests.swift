internal import TestSupport
internal import Testing

@testable internal import Tunnel

@Suite("Packet segmentation") struct SegmentationTests {
    /// The frame of a super-packet as the kernel returns it, with the sum of the pseudo-header in place of the checksum.
    private func superFrame(_ packet: [UInt8], _ kind: VirtualHeader.Segmentation, segment: Int) -> ReceivedFrame {
        var header = VirtualHeader()
        header.segmentation = kind
        header.needsChecksum = true
        header.segmentLength = UInt16(segment)
        header.checksumStart = packet[0] >> 4 == 6 ? 40 : 20
        header.checksumOffset = kind == .udp ? 6 : 16
        return ReceivedFrame(header: header, packet: packet)
    }

    @Test(arguments: [false, true])
    func `a super-packet of TCP becomes segments with correct headers`(isIPv6: Bool) throws {
        var random = SplitMix64(seed: 7)
        let payload = random.bytes(count: 5_001)
        // CWR, PSH, FIN and ACK.
        var builder = PacketBuilder(isIPv6: isIPv6, sequence: .max - 1_500, flags: 0x99)
        builder.identification = .max - 1
        let frame = superFrame(builder.tcp(payload), isIPv6 ? .tcp6 : .tcp4, segment: 1_000)
        let packets = try PacketSegmentation.packets(of: frame)
        var expected: [[UInt8]] = []
        for index in 0..<6 {
            builder.flags = index == 0 ? 0x90 : index == 5 ? 0x19 : 0x10
            expected.append(builder.tcp(Array(payload[index * 1_000..<min(5_001, (index + 1) * 1_000)])))
            builder.sequence &+= 1_000
            builder.identification &+= 1
        }
        #expect(packets == expected)
        #expect(packets.allSatisfy(PacketBuilder.isValid))
    }

    @Test(arguments: [false, true])
    func `a super-packet of UDP becomes its datagrams`(isIPv6: Bool) throws {
        var random = SplitMix64(seed: 8)
        let payload = random.bytes(count: 2_500)
        var builder = PacketBuilder(isIPv6: isIPv6)
        let packets = try PacketSegmentation.packets(of: superFrame(builder.udp(payload), .udp, segment: 1_200))
        var expected: [[UInt8]] = []
        for piece in [0..<1_200, 1_200..<2_400, 2_400..<2_500] {
            expected.append(builder.udp(Array(payload[piece])))
            builder.identification &+= 1
        }
        #expect(packets == expected)
    }

    @Test func `a segmentation continues where a batch was full`() throws {
        let frame = superFrame(PacketBuilder().tcp([UInt8](repeating: 9, count: 6_000)), .tcp4, segment: 500)
        let whole = try PacketSegmentation.packets(of: frame)
        #expect(whole.count == 12)
        #expect(try PacketSegmentation.packets(of: frame, packetLimit: 5) == whole)
    }

    @Test func `segments shrink to the limit`() throws {
        let payload = (0..<4_000).map { UInt8(truncatingIfNeeded: $0) }
        let frame = superFrame(PacketBuilder().tcp(payload), .tcp4, segment: 1_368)
        let packets = try PacketSegmentation.packets(of: frame, limit: 1_280)
        #expect(packets.map(\.count) == [1_280, 1_280, 1_280, 4_000 - 3 * 1_228 + 52])
        #expect(packets.flatMap { $0[52...] } == payload)
    }

    @Test func `datagrams and packets longer than the limit are refused`() {
        let frame = superFrame(PacketBuilder().udp([UInt8](repeating: 1, count: 4_000)), .udp, segment: 1_400)
        #expect(throws: OffloadError.packetTooLong(1_280)) { try PacketSegmentation.packets(of: frame, limit: 1_280) }
        let plain = ReceivedFrame(header: VirtualHeader(), packet: [UInt8](repeating: 0x45, count: 1_281))
        #expect(throws: OffloadError.packetTooLong(1_280)) { try PacketSegmentation.packets(of: plain, limit: 1_280) }
    }

    @Test(arguments: [false, true])
    func `a checksum that the kernel left out is completed`(isIPv6: Bool) throws {
        let packet = PacketBuilder(isIPv6: isIPv6).udp([1, 2, 3, 4, 5])
        var partial = packet
        let start = isIPv6 ? 40 : 20
        let pseudo = packet[isIPv6 ? 8..<40 : 12..<20] + [0, 17, 0, 13]
        partial.replaceSubrange(start + 6..<start + 8, with: PacketBuilder.word(~PacketBuilder.checksum(Array(pseudo))))
        var header = VirtualHeader()
        header.needsChecksum = true
        header.checksumStart = UInt16(start)
        header.checksumOffset = 6
        #expect(try PacketSegmentation.packets(of: ReceivedFrame(header: header, packet: partial)) == [packet])
        header.checksumOffset = 12
        let beyond = ReceivedFrame(header: header, packet: partial)
        #expect(throws: OffloadError.truncated) { try PacketSegmentation.packets(of: beyond) }
    }

    @Test func `a frame without offloads is copied`() throws {
        let packet = PacketBuilder().tcp([1, 2, 3])
        let frame = ReceivedFrame(header: VirtualHeader(), packet: packet)
        #expect(try PacketSegmentation.packets(of: frame) == [packet])
    }

    @Test func `headers that contradict the virtual header are refused`() {
        let tcp = PacketBuilder().tcp([UInt8](repeating: 1, count: 3_000))
        for kind in [VirtualHeader.Segmentation.tcp6, .udp] {
            let frame = superFrame(tcp, kind, segment: 1_000)
            #expect(throws: OffloadError.inconsistentHeaders) { try PacketSegmentation.packets(of: frame) }
        }
        let empty = superFrame(tcp, .tcp4, segment: 0)
        #expect(throws: OffloadError.inconsistentHeaders) { try PacketSegmentation.packets(of: empty) }
        var fragment = tcp
        fragment[6] = 0x20
        let fragmented = superFrame(fragment, .tcp4, segment: 1_000)
        #expect(throws: OffloadError.inconsistentHeaders) { try PacketSegmentation.packets(of: fragmented) }
        #expect(throws: OffloadError.unknownSegmentation(3)) { try VirtualHeader([0, 3, 0, 0, 0, 0, 0, 0, 0, 0]) }
        #expect(throws: OffloadError.truncated) { try VirtualHeader([0, 1, 0, 0, 0, 0, 0, 0, 0]) }
    }

    @Test func `segmentation follows extension headers up to a limit`() throws {
        let header: [UInt8] = [0, 0, 1, 4, 0, 0, 0, 0]
        var builder = PacketBuilder(isIPv6: true, networkExtension: header)
        let frame = superFrame(builder.tcp([UInt8](repeating: 3, count: 2_000)), .tcp6, segment: 1_000)
        let packets = try PacketSegmentation.packets(of: frame)
        var second = builder
        second.sequence += 1_000
        #expect(packets == [builder, second].map { $0.tcp([UInt8](repeating: 3, count: 1_000)) })
        builder.networkExtension = Array(repeatElement([60, 0, 1, 4, 0, 0, 0, 0] as [UInt8], count: 9).joined())
        let deep = superFrame(builder.tcp([1, 2]), .tcp6, segment: 1)
        #expect(throws: OffloadError.inconsistentHeaders) { try PacketSegmentation.packets(of: deep) }
    }

    @Test func `damaged frames never crash the segmentation`() {
        let tcp = PacketBuilder().tcp([UInt8](repeating: 1, count: 3_000))
        let tcp6 = PacketBuilder(isIPv6: true, networkExtension: [0, 0, 1, 4, 0, 0, 0, 0]).tcp([1, 2, 3, 4])
        let inputs: [[UInt8]] = [
            [1, 1, 0, 0, 200, 1, 20, 0, 16, 0] + tcp, [1, 4, 0, 0, 1, 0, 48, 0, 16, 0] + tcp6,
            [1, 5, 0, 0, 2, 0, 20, 0, 6, 0] + PacketBuilder().udp([1, 2, 3, 4, 5]),
            [1, 0, 0, 0, 0, 0, 20, 0, 16, 0] + tcp,
        ]
        neverCrash(on: inputs) { bytes in
            for packet in try PacketSegmentation.packets(of: ReceivedFrame(bytes: bytes)) {
                #expect(packet.count <= 1_420)
            }
        }
    }
}
