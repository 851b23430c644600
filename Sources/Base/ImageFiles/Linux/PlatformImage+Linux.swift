#if os(Linux)
internal import CTurboJPEG
internal import QRCode

/// Images that only the platform can read: JPEG, by libjpeg-turbo.
///
/// Its TurboJPEG interface returns codes; the classic one leaves by `longjmp`, which must not cross frames of Swift.
enum PlatformImage {
    private static let signature: [UInt8] = [0xFF, 0xD8, 0xFF]
    /// Progressive files may have scans without number.
    private static let flags = TJFLAG_LIMITSCANS

    static func greyImage(from bytes: [UInt8]) throws(ImageFileError) -> GreyImage {
        guard bytes.starts(with: signature) else { throw .unknownKind(readable: "PNG, PGM or JPEG") }
        guard bytes.count <= ImageFile.longestFile, let decoder = unsafe tjInitDecompress() else {
            throw .damaged("it is too large to be read")
        }
        defer { unsafe _ = tjDestroy(decoder) }
        let count = UInt(bytes.count)
        var (width, height, subsampling, colours) = (Int32(0), Int32(0), Int32(0), Int32(0))
        let status = unsafe tjDecompressHeader3(decoder, bytes, count, &width, &height, &subsampling, &colours)
        guard unsafe status == 0 || isWarning(decoder) else { throw .damaged("its header is not that of a JPEG") }
        let (fullWidth, fullHeight) = (Int(width), Int(height))
        try ImageFile.check(width: fullWidth, height: fullHeight)
        let facts = JPEGHeader(bytes)
        guard facts.allows(width: fullWidth, height: fullHeight, subsampling: Int(subsampling)) else {
            throw .size(width: fullWidth, height: fullHeight)
        }
        (width, height) = scaled(width, height)
        var pixels = [UInt8](repeating: 255, count: Int(width) * Int(height))
        let grey = TJPF_GRAY.rawValue
        if unsafe tjDecompress2(decoder, bytes, count, &pixels, width, 0, height, grey, flags) != 0 {
            // After a warning the image has damaged parts, and the code's own correction decides about them.
            guard unsafe isWarning(decoder), facts.hasPixels, pixels.contains(where: { $0 != pixels[0] }) else {
                throw .damaged("its pixels are missing, damaged or in print colours")
            }
        }
        var sink = ImageSink(width: Int(width), height: Int(height))
        for row in 0..<Int(height) {
            for column in 0..<Int(width) { sink.add(pixels[row * Int(width) + column], column: column, row: row) }
        }
        return try sink.image()
    }

    /// Whether the last failure of a decoder left an image behind.
    @unsafe
    private static func isWarning(_ decoder: tjhandle) -> Bool {
        unsafe tjGetErrorCode(decoder) == Int32(TJERR_WARNING.rawValue)
    }

    /// The largest sides, within those of a `GreyImage`, at which the decoder can make the image; else its smallest ones.
    private static func scaled(_ width: Int32, _ height: Int32) -> (Int32, Int32) {
        // libjpeg-turbo decodes in eighths.
        let sizes = (1...8 as ClosedRange<Int32>).reversed().map { eighths in
            ((width * eighths + 7) / 8, (height * eighths + 7) / 8)
        }
        let limit = Int32(GreyImage.longestSide)
        return sizes.first { $0.0 <= limit && $0.1 <= limit } ?? sizes[7]
    }
}
#endif
