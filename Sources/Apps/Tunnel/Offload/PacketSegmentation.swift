/// The division of one frame into packets, which continues where the last batch was full.
///
/// A super-packet of TCP is divided as RFC 9293 permits a sender to: each packet takes the headers with its own length,
/// sequence number, IPv4 identification and checksum; FIN and PSH are set in the last packet alone, CWR in the first
/// alone. A super-packet of UDP is divided at the boundaries of its datagrams and never otherwise. A checksum that the
/// kernel left to the device is completed. Other packets are copied.
package struct PacketSegmentation: Sendable {
    private enum Kind: Sendable {
        case copy
        /// A checksum to complete: its first byte and its place, counted from the beginning of the packet.
        case completeChecksum(start: Int, place: Int)
        case divide(PacketLayout, segmentLength: Int)
    }

    private static let finAndPush: UInt8 = 0x09
    private static let windowReduced: UInt8 = 0x80

    private let kind: Kind
    /// The number of payload bytes that have been written.
    private var written = 0
    /// The number of packets that have been written.
    private var packetCount = 0
    /// Whether all packets have been written.
    package private(set) var isComplete = false

    /// Checks a frame; its packets have at most `limit` bytes.
    package init(of frame: borrowing ReceivedFrame, packetByteLimit limit: Int) throws(OffloadError) {
        let header = frame.header
        let place = frame.place
        guard header.segmentation != .none else {
            guard place.count <= limit else { throw .packetTooLong(limit) }
            guard !place.isEmpty else { throw .truncated }
            kind = try Self.checksumKind(header, packetLength: place.count)
            return
        }
        let layout = try PacketLayout(of: frame.bytes, at: place)
        let isConsistent =
            switch header.segmentation {
            case .tcp4: !layout.isIPv6 && layout.transport == .tcp
            case .tcp6: layout.isIPv6 && layout.transport == .tcp
            case .udp: layout.transport == .udp
            case .none: false
            }
        guard isConsistent, header.segmentLength > 0, place.count <= PacketBatch.packetByteLimit else {
            throw .inconsistentHeaders
        }
        var length = Int(header.segmentLength)
        if layout.headerLength + min(length, place.count - layout.headerLength) > limit {
            guard layout.transport == .tcp, limit > layout.headerLength else { throw .packetTooLong(limit) }
            length = limit - layout.headerLength
        }
        kind = .divide(layout, segmentLength: length)
    }

    private static func checksumKind(_ header: VirtualHeader, packetLength: Int) throws(OffloadError) -> Kind {
        guard header.needsChecksum else { return .copy }
        let start = Int(header.checksumStart)
        let place = start + Int(header.checksumOffset)
        guard place + 2 <= packetLength else { throw .truncated }
        return .completeChecksum(start: start, place: place)
    }

    /// Writes packets of the frame until it is complete or the batch has no room.
    ///
    /// `frame` is the one that the segmentation was created with.
    package mutating func write(_ frame: borrowing ReceivedFrame, into batch: inout PacketBatch) {
        while !isComplete {
            switch kind {
            case .copy:
                guard batch.append(frame.packet) != nil else { return }
                isComplete = true
            case .completeChecksum(let start, let place):
                guard let index = batch.append(frame.packet) else { return }
                let packet = batch.place(of: index)
                batch.withMemory { Self.completeChecksum(&$0, packet, start, place) }
                isComplete = true
            case .divide(let layout, let segmentLength):
                guard writePacket(frame, layout, segmentLength, into: &batch) else { return }
            }
        }
    }

    private static func completeChecksum(_ bytes: inout [UInt8], _ packet: Range<Int>, _ start: Int, _ place: Int) {
        var sum = InternetChecksum()
        sum.add(bytes, packet.lowerBound + start..<packet.upperBound)
        // A UDP checksum of zero would state that there is none.
        bytes.set(sum.value == 0 ? 0xFFFF : sum.value, at: packet.lowerBound + place)
    }

    /// Writes the next packet; returns false without room for it.
    private mutating func writePacket(
        _ frame: borrowing ReceivedFrame,
        _ layout: PacketLayout,
        _ segmentLength: Int,
        into batch: inout PacketBatch
    ) -> Bool {
        let source = frame.place.lowerBound
        let payload = frame.place.count - layout.headerLength
        let count = min(segmentLength, payload - written)
        guard let index = batch.append(length: layout.headerLength + count) else { return false }
        let packet = batch.place(of: index)
        batch.copy(frame.bytes[source..<source + layout.headerLength], to: packet.lowerBound)
        let start = source + layout.headerLength + written
        batch.copy(frame.bytes[start..<start + count], to: packet.lowerBound + layout.headerLength)
        let (offset, number) = (written, packetCount)
        written += count
        packetCount += 1
        isComplete = written >= payload
        let isLast = isComplete
        batch.withMemory { Self.finish(&$0, packet, layout, offset: offset, number: number, isLast: isLast) }
        return true
    }

    /// Corrects the headers of a packet that has the payload from `offset` on.
    private static func finish(
        _ bytes: inout [UInt8],
        _ packet: Range<Int>,
        _ layout: PacketLayout,
        offset: Int,
        number: Int,
        isLast: Bool
    ) {
        let start = packet.lowerBound
        if !layout.isIPv6 {
            let identification = bytes.word16(at: start + 4) &+ UInt16(truncatingIfNeeded: number)
            bytes.set(identification, at: start + 4)
        }
        layout.setNetworkLength(of: &bytes, at: start, packet.count)
        let transport = start + layout.networkLength
        switch layout.transport {
        case .tcp:
            let sequence = bytes.word32(at: transport + 4) &+ UInt32(truncatingIfNeeded: offset)
            bytes.set(sequence, at: transport + 4)
            if !isLast { bytes[transport + 13] &= ~finAndPush }
            if number > 0 { bytes[transport + 13] &= ~windowReduced }
        case .udp: bytes.set(UInt16(truncatingIfNeeded: packet.upperBound - transport), at: transport + 4)
        }
        let place = start + layout.checksumPlace
        bytes.set(UInt16(0), at: place)
        var sum = layout.pseudoHeader(of: bytes, at: start, transportLength: packet.upperBound - transport)
        sum.add(bytes, transport..<packet.upperBound)
        let isZero = layout.transport == .udp && sum.value == 0
        bytes.set(isZero ? 0xFFFF : sum.value, at: place)
    }
}
