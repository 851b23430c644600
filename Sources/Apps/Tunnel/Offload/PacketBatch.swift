/// Packets in one piece of memory that is allocated once, each with room before and after it.
///
/// The room before and after a packet takes the header and the tag of an encrypting protocol, so that a packet is
/// encrypted in its place. A batch without room for a packet refuses it; the caller empties the batch first.
package struct PacketBatch: Sendable {
    /// The longest packet: a super-packet of IPv6.
    package static let packetByteLimit = 65_575

    /// The number of free bytes before each packet.
    package let headroom: Int
    /// The number of free bytes after each packet.
    package let tailroom: Int
    /// The most packets.
    package let packetLimit: Int
    /// The memory; its size never changes.
    package private(set) var bytes: [UInt8]
    /// The places of the packets in ``bytes``.
    private var places: [Range<Int>] = []
    private var end = 0

    /// Allocates the memory of a batch, at least the size of one super-packet.
    package init(byteCount: Int = 256 << 10, packetLimit: Int = 256, headroom: Int = 32, tailroom: Int = 48) {
        precondition(headroom >= 0 && tailroom >= 0 && packetLimit > 0, "\(packetLimit) packets")
        self.headroom = headroom
        self.tailroom = tailroom
        self.packetLimit = packetLimit
        bytes = [UInt8](repeating: 0, count: max(byteCount, Self.packetByteLimit + headroom + tailroom))
        places.reserveCapacity(packetLimit)
    }

    /// The number of packets.
    package var count: Int { places.count }

    package var isEmpty: Bool { places.isEmpty }

    /// Removes all packets and keeps the memory.
    package mutating func removeAll() {
        places.removeAll(keepingCapacity: true)
        end = 0
    }

    /// The place of a packet in ``bytes``.
    package func place(of index: Int) -> Range<Int> { places[index] }

    /// The bytes of a packet, which are not copied.
    package subscript(index: Int) -> ArraySlice<UInt8> { bytes[places[index]] }

    /// Adds a packet of `length` bytes with undefined contents; returns its index, or nil without room for it.
    package mutating func append(length: Int) -> Int? {
        let start = end + headroom
        guard length >= 0, places.count < packetLimit, length <= bytes.count - start - tailroom else { return nil }
        places.append(start..<start + length)
        // The next packet begins at a multiple of 16, which the ciphers prefer.
        end = min(bytes.count, (start + length + tailroom + 15) & ~15)
        return places.count - 1
    }

    /// Adds a copy of a packet; returns its index, or nil without room for it.
    @discardableResult
    package mutating func append(_ packet: ArraySlice<UInt8>) -> Int? {
        guard let index = append(length: packet.count) else { return nil }
        copy(packet, to: places[index].lowerBound)
        return index
    }

    /// Shortens a packet, after a decryption or because of padding.
    package mutating func truncate(_ index: Int, to length: Int) {
        precondition(length >= 0 && length <= places[index].count, "\(length) of \(places[index].count) bytes")
        places[index] = places[index].lowerBound..<places[index].lowerBound + length
    }

    /// Lends a packet with the room around it for a change in place.
    package mutating func withMutableBytes<Outcome>(
        of index: Int,
        _ body: (UnsafeMutableRawBufferPointer) -> Outcome
    ) -> Outcome {
        let place = places[index]
        return unsafe bytes.withUnsafeMutableBytes {
            let whole = place.lowerBound - headroom..<place.upperBound + tailroom
            return unsafe body(UnsafeMutableRawBufferPointer(rebasing: $0[whole]))
        }
    }

    /// Copies bytes over a part of the memory.
    mutating func copy(_ source: ArraySlice<UInt8>, to offset: Int) {
        precondition(offset >= 0 && offset + source.count <= bytes.count, "\(source.count) bytes at \(offset)")
        unsafe bytes.withUnsafeMutableBytes { memory in
            unsafe source.withUnsafeBytes {
                unsafe UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + $0.count]).copyMemory(from: $0)
            }
        }
    }

    /// Lends the whole memory to code of this module that has checked its offsets.
    mutating func withMemory<Outcome>(_ body: (inout [UInt8]) -> Outcome) -> Outcome { body(&bytes) }
}
