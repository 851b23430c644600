/// The header of ten bytes that precedes each packet of a device with virtual headers (`struct virtio_net_hdr`,
/// Virtual I/O Device 1.2, section 5.1.6), in little-endian order.
package struct VirtualHeader: Equatable, Sendable {
    /// The kind of a super-packet.
    package enum Segmentation: UInt8, Sendable {
        case none = 0
        case tcp4 = 1
        case tcp6 = 4
        /// UDP datagrams of equal size, the last one possibly shorter.
        case udp = 5
    }

    /// The number of bytes.
    package static let byteCount = 10
    /// The bit of a checksum that is not computed yet.
    private static let needsChecksumFlag: UInt8 = 1
    /// The bit of a super-packet whose first segment alone has the flag CWR.
    private static let congestionFlag: UInt8 = 0x80

    /// Whether the field at ``checksumOffset`` contains the sum of the pseudo-header alone.
    package var needsChecksum = false
    package var segmentation = Segmentation.none
    /// The number of bytes before the payload, as the sender states it.
    package var headerLength: UInt16 = 0
    /// The number of payload bytes in each packet but the last one.
    package var segmentLength: UInt16 = 0
    /// The first byte that the checksum covers.
    package var checksumStart: UInt16 = 0
    /// The place of the checksum after ``checksumStart``.
    package var checksumOffset: UInt16 = 0

    /// The header of a packet without offloads.
    package init() {}

    /// Reads the first bytes of a frame.
    package init(_ bytes: [UInt8]) throws(OffloadError) {
        guard bytes.count >= Self.byteCount else { throw .truncated }
        let kind = bytes[1] & ~Self.congestionFlag
        guard let segmentation = Segmentation(rawValue: kind) else { throw .unknownSegmentation(kind) }
        let word = { (offset: Int) in bytes.word16(at: offset).byteSwapped }
        needsChecksum = bytes[0] & Self.needsChecksumFlag != 0
        self.segmentation = segmentation
        headerLength = word(2)
        segmentLength = word(4)
        checksumStart = word(6)
        checksumOffset = word(8)
    }

    /// Writes the header over the bytes at `offset`.
    func write(over bytes: inout [UInt8], at offset: Int) {
        bytes[offset] = needsChecksum ? Self.needsChecksumFlag : 0
        bytes[offset + 1] = segmentation.rawValue
        for (index, word) in [headerLength, segmentLength, checksumStart, checksumOffset].enumerated() {
            bytes.set(word.byteSwapped, at: offset + 2 + 2 * index)
        }
    }
}
