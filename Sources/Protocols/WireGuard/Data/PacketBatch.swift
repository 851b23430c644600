/// A reusable arena of IP packets: one array of bytes, and the place of each packet in it.
///
/// Each packet is followed by zeros up to a multiple of 16 bytes, the padding of transport messages, so that a packet is
/// sealed from where it lies. After ``removeAll()`` the memory is kept: a batch that is reused does not allocate.
package struct PacketBatch: Sendable {
    private struct Place: Sendable {
        var start: Int
        var count: Int
    }

    private var memory: [UInt8] = []
    private var places: [Place] = []

    /// An empty batch with room for `byteCount` bytes.
    package init(byteCapacity: Int = 0) {
        memory.reserveCapacity(byteCapacity)
    }

    /// The number of packets.
    package var count: Int { places.count }

    /// Whether the batch has no packets.
    package var isEmpty: Bool { places.isEmpty }

    /// The bytes of a packet, which share the memory of the batch: do not keep the slice.
    package subscript(index: Int) -> ArraySlice<UInt8> {
        let place = places[index]
        return memory[place.start..<place.start + place.count]
    }

    /// Appends a copy of a packet.
    package mutating func append(_ packet: some Collection<UInt8>) {
        let start = memory.count
        memory.append(contentsOf: packet)
        finish(start)
    }

    /// Appends a copy of a packet.
    @unsafe package mutating func append(_ packet: UnsafeRawBufferPointer) {
        let start = memory.count
        unsafe memory.append(contentsOf: packet)
        finish(start)
    }

    /// Removes all packets and keeps the memory.
    package mutating func removeAll() {
        memory.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// Returns the number of bytes of a packet.
    package func byteCount(at index: Int) -> Int { places[index].count }

    /// Shortens a packet to `count` bytes.
    mutating func shorten(_ index: Int, to count: Int) {
        precondition(count <= places[index].count, "\(count) bytes are more than \(places[index].count)")
        places[index].count = count
    }

    /// Calls `body` with the bytes of a packet and `padding` zeros after them; the pointer is invalid afterwards.
    @unsafe package func withUnsafeBytes<R>(
        at index: Int,
        padding: Int = 0,
        _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        let place = places[index]
        return unsafe memory.withUnsafeBytes { all in
            unsafe body(UnsafeRawBufferPointer(rebasing: all[place.start..<place.start + place.count + padding]))
        }
    }

    private mutating func finish(_ start: Int) {
        places.append(Place(start: start, count: memory.count - start))
        let excess = memory.count % TransportPadding.unit
        if excess != 0 { memory.append(contentsOf: repeatElement(0, count: TransportPadding.unit - excess)) }
    }
}

/// The padding of transport messages: zeros up to a multiple of 16 bytes (the paper, section 5.4.6), but not above the MTU.
enum TransportPadding {
    static let unit = 16

    /// Returns the number of zeros that follow a packet.
    static func count(after byteCount: Int, mtu: Int) -> Int {
        let padded = (byteCount + unit - 1) / unit * unit
        return max(min(padded, mtu) - byteCount, 0)
    }
}
