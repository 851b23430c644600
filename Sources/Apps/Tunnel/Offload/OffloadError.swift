/// The reason why a frame of the device, or a packet for it, was refused; such a packet is dropped and counted.
package enum OffloadError: Error, Equatable, Sendable {
    /// The frame ends inside the virtual header or inside a header that it announces.
    case truncated
    /// A kind of segmentation that was never enabled.
    case unknownSegmentation(UInt8)
    /// The headers of the packet contradict the virtual header.
    case inconsistentHeaders
    /// A packet that may not be divided and is longer than the limit, in bytes.
    case packetTooLong(Int)
}
