/// One frame that was read from a device: the virtual header, if the device has one, and a packet or super-packet.
package struct ReceivedFrame: Sendable {
    /// The header of the frame; without offloads if the device has no virtual headers.
    package private(set) var header = VirtualHeader()
    /// The memory, whose size never changes.
    private(set) var bytes: [UInt8]
    /// The place of the packet in ``bytes``.
    private(set) var place = 0..<0

    /// Allocates room for the longest frame.
    package init() {
        bytes = [UInt8](repeating: 0, count: VirtualHeader.byteCount + PacketBatch.packetByteLimit)
    }

    /// A frame of given parts; the packet is cut to the longest one.
    package init(header: VirtualHeader, packet: [UInt8]) {
        self.init()
        self.header = header
        let count = min(packet.count, bytes.count)
        bytes.replaceSubrange(0..<count, with: packet[..<count])
        place = 0..<count
    }

    /// The packet or super-packet, which is not copied.
    package var packet: ArraySlice<UInt8> { bytes[place] }

    /// Replaces the contents with those that `read` writes, and returns the value of `read`.
    ///
    /// `read` returns the number of bytes, or a negative number; the frame is empty then.
    mutating func fill(
        hasHeader: Bool,
        _ read: (UnsafeMutableRawBufferPointer) -> Int
    ) throws(OffloadError) -> Int {
        header = VirtualHeader()
        place = 0..<0
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read($0) }
        guard count > 0 else { return count }
        guard hasHeader else {
            place = 0..<min(count, bytes.count)
            return count
        }
        guard count >= VirtualHeader.byteCount else { throw .truncated }
        header = try VirtualHeader(bytes)
        place = VirtualHeader.byteCount..<min(count, bytes.count)
        return count
    }
}
