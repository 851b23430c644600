/// Frames for a device, each a head and parts of a ``PacketBatch``; the payload is not copied.
///
/// A frame is a packet as it was received, after a virtual header without offloads, or several TCP segments as one
/// super-packet. All memory is allocated once.
package struct FrameBatch: Sendable {
    /// A part of the batch of packets.
    package struct Piece: Equatable, Sendable {
        package var offset: Int
        package var length: Int
    }

    struct Frame: Sendable {
        var headLength: Int
        /// The first and the last packet in the chain of ``FrameBatch/next``.
        var first: Int
        var last: Int
        var packetCount: Int
        /// The number of bytes at the beginning of each packet that the head replaces.
        var replacedLength: Int
    }

    /// The longest head: the virtual header, 60 bytes of IPv4 or 40 of IPv6, and 60 of TCP.
    static let headRoom = VirtualHeader.byteCount + 120

    private(set) var frames: [Frame] = []
    /// The heads, ``headRoom`` bytes for each frame.
    private(set) var heads: [UInt8] = []
    /// The packet that follows each packet in its frame, minus one after the last.
    private var next: [Int] = []

    /// Allocates room for the frames of batches of at most `packetLimit` packets.
    package init(packetLimit: Int = 256) {
        frames.reserveCapacity(packetLimit)
        next.reserveCapacity(packetLimit)
        heads = [UInt8](repeating: 0, count: packetLimit * Self.headRoom)
    }

    /// The number of frames.
    package var count: Int { frames.count }

    /// The head of a frame: its virtual header, and the headers of a super-packet.
    package func head(of index: Int) -> ArraySlice<UInt8> {
        heads[index * Self.headRoom..<index * Self.headRoom + frames[index].headLength]
    }

    /// The number of packets in a frame.
    package func packetCount(of index: Int) -> Int { frames[index].packetCount }

    /// Calls `body` with each piece of a frame after its head, in order.
    package func forEachPiece(of index: Int, in batch: borrowing PacketBatch, _ body: (Piece) -> Void) {
        let frame = frames[index]
        var packet = frame.first
        while packet >= 0 {
            let place = batch.place(of: packet)
            body(Piece(offset: place.lowerBound + frame.replacedLength, length: place.count - frame.replacedLength))
            packet = next[packet]
        }
    }

    /// The bytes of a frame in one array.
    package func bytes(of index: Int, in batch: borrowing PacketBatch) -> [UInt8] {
        var bytes = Array(head(of: index))
        let memory = batch.bytes
        forEachPiece(of: index, in: batch) { bytes += memory[$0.offset..<$0.offset + $0.length] }
        return bytes
    }

    mutating func removeAll() {
        frames.removeAll(keepingCapacity: true)
        next.removeAll(keepingCapacity: true)
    }

    /// Adds a frame of one packet, which follows all earlier ones; returns its index.
    mutating func append(packet: Int, hasVirtualHeader: Bool) -> Int {
        next.append(-1)
        let headLength = hasVirtualHeader ? VirtualHeader.byteCount : 0
        if (frames.count + 1) * Self.headRoom > heads.count {
            heads += [UInt8](repeating: 0, count: Self.headRoom)
        }
        if hasVirtualHeader { VirtualHeader().write(over: &heads, at: frames.count * Self.headRoom) }
        frames.append(Frame(headLength: headLength, first: packet, last: packet, packetCount: 1, replacedLength: 0))
        return frames.count - 1
    }

    /// Adds the next packet to an existing frame.
    mutating func append(packet: Int, to frame: Int) {
        next.append(-1)
        next[frames[frame].last] = packet
        frames[frame].last = packet
        frames[frame].packetCount += 1
    }

    /// Replaces the first bytes of the packets of a frame with one head, which `write` fills in from the offset that it
    /// receives.
    mutating func replaceHead(
        of index: Int,
        replacedLength: Int,
        header: VirtualHeader,
        _ write: (inout [UInt8], Int) -> Void
    ) {
        let start = index * Self.headRoom
        header.write(over: &heads, at: start)
        write(&heads, start + VirtualHeader.byteCount)
        frames[index].headLength = VirtualHeader.byteCount + replacedLength
        frames[index].replacedLength = replacedLength
    }
}
