#if os(Linux)
/// The facts of a JPEG (ITU-T T.81, annex B) that decide how much memory its decoding takes, and whether it has pixels.
struct JPEGHeader {
    /// Whether the coefficients are in several scans, so that the decoder collects those of the whole image first.
    private(set) var hasSeveralScans = true
    /// Whether anything follows the header of the first scan.
    private(set) var hasPixels = false

    /// Reads the segments up to the first scan, and skips other bytes between them, as libjpeg does.
    init(_ bytes: [UInt8]) {
        var position = 2
        var components = 0
        var isProgressive = false
        while position + 1 < bytes.count {
            guard bytes[position] == 0xFF, bytes[position + 1] != 0xFF, bytes[position + 1] != 0 else {
                position += 1
                continue
            }
            let marker = bytes[position + 1]
            position += 2
            // These have no content.
            if 0xD0...0xD9 ~= marker || marker == 0x01 { continue }
            guard position + 1 < bytes.count else { return }
            let length = Int(bytes[position]) << 8 | Int(bytes[position + 1])
            switch marker {
            case 0xDA where position + 2 < bytes.count:
                hasPixels = position + length < bytes.count
                hasSeveralScans = isProgressive || Int(bytes[position + 2]) < components || components == 0
                return
            case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker) && position + 7 < bytes.count:
                components = Int(bytes[position + 7])
                isProgressive = marker & 0x03 == 0x02
            default: break
            }
            position += max(2, length)
        }
    }

    /// The most bytes of coefficients that the decoder may collect: those of 108 million pixels in 4:2:0.
    private static let coefficientByteLimit = 320 << 20
    /// The bytes of coefficients of one pixel, by the subsampling that TurboJPEG reports: 4:4:4, 4:2:2, 4:2:0, grey,
    /// 4:4:0 and 4:1:1.
    private static let pixelBytes = [6, 4, 3, 2, 4, 3]

    /// Whether an image of these sides fits into the memory that the decoder may have.
    func allows(width: Int, height: Int, subsampling: Int) -> Bool {
        guard hasSeveralScans else { return true }
        let isKnown = Self.pixelBytes.indices.contains(subsampling)
        return width * height * (isKnown ? Self.pixelBytes[subsampling] : 8) <= Self.coefficientByteLimit
    }
}
#endif
