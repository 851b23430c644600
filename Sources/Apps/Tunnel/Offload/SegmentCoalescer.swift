/// Joins consecutive TCP segments of a flow into super-packets, as the kernel's generic receive offload does.
///
/// Segments are joined if the kernel's division of the result gives the same segments again: same addresses, ports,
/// acknowledgment, window, options, class and hop limit, contiguous sequence numbers, equal lengths except for the last
/// one, and no flag but ACK, ECE and a PSH in the last one. IPv4 segments have "don't fragment" or consecutive
/// identifications. Checksums are verified before, because the kernel trusts those of a super-packet. Everything else
/// passes unchanged and in order: UDP is never joined, because the kernel cannot forward joined datagrams on every path.
package struct SegmentCoalescer: Sendable {
    /// The most flows with an unfinished super-packet; the oldest one is finished for another flow.
    static let flowLimit = 16
    /// The most segments of a super-packet.
    static let segmentLimit = 128
    /// The longest super-packet.
    static let byteLimit = 65_535

    /// A super-packet that may grow.
    private struct Flow {
        var frame: Int
        var first: TCPSegment
        var nextSequence: UInt32
        var nextIdentification: UInt16
        var byteCount: Int
        var segmentCount: Int
        var isPushed = false
    }

    /// The frames of the last batch.
    package private(set) var frames: FrameBatch
    private let hasVirtualHeader: Bool
    private var flows: [Flow] = []

    /// Allocates the memory; a device without virtual headers takes single packets only.
    package init(hasVirtualHeader: Bool, packetLimit: Int = 256) {
        self.hasVirtualHeader = hasVirtualHeader
        frames = FrameBatch(packetLimit: packetLimit)
        flows.reserveCapacity(Self.flowLimit)
    }

    /// Replaces ``frames`` with those of the packets in `batch`.
    package mutating func coalesce(_ batch: borrowing PacketBatch) {
        frames.removeAll()
        for packet in 0..<batch.count { add(packet, batch) }
        for index in flows.indices { finish(flows[index], batch) }
        flows.removeAll(keepingCapacity: true)
    }

    private mutating func add(_ packet: Int, _ batch: borrowing PacketBatch) {
        guard hasVirtualHeader, let segment = TCPSegment(batch.bytes, batch.place(of: packet)) else {
            _ = frames.append(packet: packet, hasVirtualHeader: hasVirtualHeader)
            return
        }
        let index = flows.firstIndex { $0.first.hasSameFlow(as: segment, in: batch.bytes) }
        let canJoin = segment.isJoinable && segment.hasValidChecksums(batch.bytes)
        if let index, canJoin, accepts(segment, flows[index], batch) { return join(packet, segment, index, batch) }
        if let index { finish(flows.remove(at: index), batch) }
        let frame = frames.append(packet: packet, hasVirtualHeader: true)
        guard canJoin, !segment.isPush else { return }
        if flows.count == Self.flowLimit { finish(flows.removeFirst(), batch) }
        let flow = Flow(
            frame: frame,
            first: segment,
            nextSequence: segment.sequence &+ UInt32(truncatingIfNeeded: segment.payloadLength),
            nextIdentification: segment.identification &+ 1,
            byteCount: segment.place.count,
            segmentCount: 1
        )
        flows.append(flow)
    }

    /// Whether a segment of the same flow continues the super-packet.
    private func accepts(_ segment: TCPSegment, _ flow: Flow, _ batch: borrowing PacketBatch) -> Bool {
        segment.sequence == flow.nextSequence
            && segment.payloadLength <= flow.first.payloadLength
            && flow.byteCount + segment.payloadLength <= Self.byteLimit
            && flow.segmentCount < Self.segmentLimit
            && (segment.mayNotFragment || segment.identification == flow.nextIdentification)
            && flow.first.hasSameHeaders(as: segment, in: batch.bytes)
    }

    private mutating func join(_ packet: Int, _ segment: TCPSegment, _ index: Int, _ batch: borrowing PacketBatch) {
        frames.append(packet: packet, to: flows[index].frame)
        flows[index].nextSequence &+= UInt32(truncatingIfNeeded: segment.payloadLength)
        flows[index].nextIdentification &+= 1
        flows[index].byteCount += segment.payloadLength
        flows[index].segmentCount += 1
        flows[index].isPushed = segment.isPush
        if segment.isPush || segment.payloadLength < flows[index].first.payloadLength {
            finish(flows.remove(at: index), batch)
        }
    }

    /// Writes the head of a super-packet of more than one segment.
    private mutating func finish(_ flow: Flow, _ batch: borrowing PacketBatch) {
        guard flow.segmentCount > 1 else { return }
        let segment = flow.first
        let layout = segment.layout
        var header = VirtualHeader()
        header.needsChecksum = true
        header.segmentation = layout.isIPv6 ? .tcp6 : .tcp4
        header.headerLength = UInt16(truncatingIfNeeded: layout.headerLength)
        header.segmentLength = UInt16(truncatingIfNeeded: segment.payloadLength)
        header.checksumStart = UInt16(truncatingIfNeeded: layout.networkLength)
        header.checksumOffset = 16
        let bytes = batch.bytes
        frames.replaceHead(of: flow.frame, replacedLength: layout.headerLength, header: header) { heads, start in
            for offset in 0..<layout.headerLength { heads[start + offset] = bytes[segment.place.lowerBound + offset] }
            layout.setNetworkLength(of: &heads, at: start, flow.byteCount)
            if flow.isPushed { heads[start + layout.networkLength + 13] |= TCPSegment.push }
            let length = flow.byteCount - layout.networkLength
            // The kernel completes the checksum of each segment from the sum of the pseudo-header.
            let sum = layout.pseudoHeader(of: heads, at: start, transportLength: length)
            heads.set(sum.partial, at: start + layout.checksumPlace)
        }
    }
}
