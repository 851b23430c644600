internal import TestSupport
internal import Testing

@testable internal import Tunnel

@Suite("Segment coalescing") struct CoalescingTests {
    /// Consecutive segments of these lengths.
    private func segments(_ builder: PacketBuilder, _ lengths: [Int]) -> [[UInt8]] {
        var builder = builder
        return lengths.enumerated().map { index, length in
            defer {
                builder.sequence &+= UInt32(length)
                builder.identification &+= 1
            }
            return builder.tcp([UInt8](repeating: UInt8(truncatingIfNeeded: index), count: length))
        }
    }

    /// The packets that the kernel makes of frames.
    private func divided(_ frames: [[UInt8]]) throws -> [[UInt8]] {
        try frames.flatMap { try PacketSegmentation.packets(of: ReceivedFrame(bytes: $0), limit: 65_535) }
    }

    @Test(arguments: [false, true])
    func `consecutive segments become one super-packet and the same segments again`(isIPv6: Bool) throws {
        var packets = segments(PacketBuilder(isIPv6: isIPv6, sequence: .max - 2_000), [1_000, 1_000, 1_000])
        packets.append(PacketBuilder(isIPv6: isIPv6, sequence: 999, flags: 0x18, identification: 503).tcp([1, 2, 3]))
        let frames = SegmentCoalescer.frames(of: packets)
        #expect(frames.count == 1)
        let header = try VirtualHeader(frames[0])
        #expect(header.segmentation == (isIPv6 ? .tcp6 : .tcp4))
        #expect(header.segmentLength == 1_000)
        #expect(header.needsChecksum)
        #expect(header.checksumStart == (isIPv6 ? 40 : 20))
        #expect(header.headerLength == (isIPv6 ? 72 : 52))
        #expect(try divided(frames) == packets)
    }

    @Test(arguments: [false, true])
    func `the checksum of a super-packet is the sum of its pseudo-header`(isIPv6: Bool) throws {
        let frames = SegmentCoalescer.frames(of: segments(PacketBuilder(isIPv6: isIPv6), [700, 700, 33]))
        try #require(frames.count == 1)
        // Completed over the whole packet, as a kernel does that hands it to an interface without segmentation.
        var header = try VirtualHeader(frames[0])
        header.segmentation = .none
        let frame = ReceivedFrame(header: header, packet: Array(frames[0][VirtualHeader.byteCount...]))
        let packets = try PacketSegmentation.packets(of: frame, limit: 65_535)
        #expect(packets.map(\.count) == [1_433 + (isIPv6 ? 72 : 52)])
        #expect(packets.allSatisfy(PacketBuilder.isValid))
    }

    @Test func `interleaved flows keep the order of each`() throws {
        let first = segments(PacketBuilder(host: 2), [900, 900, 900])
        let second = segments(PacketBuilder(isIPv6: true, host: 2), [800, 800, 800])
        let mixed = zip(first, second).flatMap { [$0, $1] }
        let frames = SegmentCoalescer.frames(of: mixed)
        #expect(frames.count == 2)
        #expect(try divided(frames) == first + second)
    }

    /// A change of the second of two segments that must not be joined.
    enum Difference: CaseIterable {
        case gap, acknowledgment, window, options, finish, reset, synchronize, urgent, windowReduced, echo
        case trafficClass, hopLimit, mayNotFragment, port, longer

        func apply(to builder: inout PacketBuilder) {
            switch self {
            case .gap: builder.sequence += 1
            case .acknowledgment: builder.acknowledgment += 1
            case .window: builder.window += 1
            case .options: builder.options[11] = 9
            case .finish: builder.flags |= 0x01
            case .reset: builder.flags |= 0x04
            case .synchronize: builder.flags |= 0x02
            case .urgent: builder.flags |= 0x20
            case .windowReduced: builder.flags |= 0x80
            case .echo: builder.flags |= 0x40
            case .trafficClass: builder.trafficClass = 3
            case .hopLimit: builder.hopLimit = 63
            case .mayNotFragment: builder.mayNotFragment = false
            case .port: builder.sourcePort += 1
            case .longer: break
            }
        }
    }

    @Test(arguments: Difference.allCases, [false, true])
    func `segments that differ pass unchanged`(difference: Difference, isIPv6: Bool) throws {
        // IPv6 has no such flag.
        if isIPv6, difference == .mayNotFragment { return }
        var builder = PacketBuilder(isIPv6: isIPv6)
        let first = builder.tcp([UInt8](repeating: 1, count: 500))
        builder.sequence += 500
        builder.identification += 1
        difference.apply(to: &builder)
        let second = builder.tcp([UInt8](repeating: 2, count: difference == .longer ? 501 : 500))
        let plain = [UInt8](repeating: 0, count: VirtualHeader.byteCount)
        #expect(SegmentCoalescer.frames(of: [first, second]) == [plain + first, plain + second])
    }

    @Test func `identifications must follow each other where routers may fragment`() {
        var builder = PacketBuilder(mayNotFragment: false)
        let packets = segments(builder, [500, 500])
        #expect(SegmentCoalescer.frames(of: packets).count == 1)
        builder.sequence += 500
        #expect(SegmentCoalescer.frames(of: [packets[0], builder.tcp([UInt8](repeating: 1, count: 500))]).count == 2)
    }

    @Test func `a segment with a wrong checksum passes unchanged`() {
        let packets = segments(PacketBuilder(), [500, 500, 500])
        for place in [10, 36, 400] {
            var damaged = packets
            damaged[1][place] ^= 0x40
            let plain = [UInt8](repeating: 0, count: VirtualHeader.byteCount)
            #expect(SegmentCoalescer.frames(of: damaged) == damaged.map { plain + $0 }, "byte \(place)")
        }
    }

    @Test func `a PSH, a short segment and a full super-packet end it`() throws {
        let short = segments(PacketBuilder(), [500, 499, 499])
        #expect(SegmentCoalescer.frames(of: short).count == 2)
        var pushed = segments(PacketBuilder(), [500, 500, 500])
        pushed[1] = PacketBuilder(sequence: 1_500, flags: 0x18, identification: 501).tcp(
            [UInt8](repeating: 1, count: 500)
        )
        #expect(SegmentCoalescer.frames(of: pushed).count == 2)
        #expect(try divided(SegmentCoalescer.frames(of: pushed)) == pushed)
        let many = segments(PacketBuilder(), [Int](repeating: 1_368, count: 50))
        let frames = SegmentCoalescer.frames(of: many)
        #expect(frames.map { (frames: [UInt8]) in frames.count }.allSatisfy { $0 <= 65_535 + 10 })
        #expect(frames.count == 2)
        #expect(try divided(frames) == many)
    }

    @Test func `UDP, fragments and extension headers pass unchanged`() {
        var fragment = PacketBuilder(mayNotFragment: false).tcp([UInt8](repeating: 1, count: 300))
        fragment[6] = 0x20
        let extended = PacketBuilder(isIPv6: true, networkExtension: [0, 0, 1, 4, 0, 0, 0, 0]).tcp([1, 2])
        let datagram = PacketBuilder().udp([1, 2, 3])
        let packets = [datagram, datagram, fragment, fragment, extended, extended, [0x45], []]
        let plain = [UInt8](repeating: 0, count: VirtualHeader.byteCount)
        #expect(SegmentCoalescer.frames(of: packets) == packets.map { plain + $0 })
    }

    @Test func `a device without virtual headers takes single packets`() {
        var coalescer = SegmentCoalescer(hasVirtualHeader: false)
        var batch = PacketBatch()
        let packets = segments(PacketBuilder(), [500, 500])
        for packet in packets { batch.append(packet[...]) }
        coalescer.coalesce(batch)
        #expect((0..<coalescer.frames.count).map { coalescer.frames.bytes(of: $0, in: batch) } == packets)
    }

    @Test(arguments: UInt64(1)...40)
    func `any order of segments keeps the packets of each flow`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var flows = (0..<20).map { index in
            PacketBuilder(isIPv6: index % 2 == 1, host: UInt8(index), identification: UInt16(index) * 1_000)
        }
        var sent = [[[UInt8]]](repeating: [], count: flows.count)
        var mixed: [[UInt8]] = []
        for _ in 0..<200 {
            let index = Int(random.next() % 20)
            flows[index].flags = random.next() % 8 == 0 ? 0x18 : 0x10
            let packet = flows[index].tcp(random.bytes(count: random.next() % 3 == 0 ? 60 : 100))
            flows[index].sequence &+= UInt32(packet.count - (index % 2 == 1 ? 72 : 52))
            if random.next() % 10 == 0 { flows[index].sequence &+= 5 }
            flows[index].identification &+= 1
            sent[index].append(packet)
            mixed.append(packet)
        }
        let frames = SegmentCoalescer.frames(of: mixed)
        let received = try divided(frames)
        #expect(frames.count < mixed.count, "nothing was joined")
        #expect(received.allSatisfy(PacketBuilder.isValid))
        for index in flows.indices {
            let own = received.filter {
                (index % 2 == 1 ? $0[0] >> 4 == 6 && $0[23] == index : $0[0] >> 4 == 4 && $0[15] == index)
            }
            #expect(own == sent[index], "flow \(index)")
        }
    }

    @Test func `damaged segments never crash the coalescer`() {
        let inputs = [PacketBuilder().tcp([1, 2, 3, 4]), PacketBuilder(isIPv6: true).tcp([1, 2, 3, 4])]
        neverCrash(on: inputs) { bytes in
            let frames = SegmentCoalescer.frames(of: [inputs[0], bytes, bytes, inputs[1]])
            let total = frames.reduce(0) { $0 + $1.count }
            #expect(total <= 4 * 10 + inputs[0].count + inputs[1].count + 2 * bytes.count)
        }
    }
}
