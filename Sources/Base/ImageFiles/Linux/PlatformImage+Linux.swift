#if os(Linux)
internal import CTurboJPEG
internal import QRCode

/// Images that only the platform can read: JPEG, by libjpeg-turbo.
///
/// Its TurboJPEG interface returns codes; the classic one leaves by `longjmp`, which must not cross frames of Swift.
enum PlatformImage {
    private static let signature: [UInt8] = [0xFF, 0xD8, 0xFF]
    /// Progressive files may have scans without number, and a damaged file is no image.
    private static let flags = TJFLAG_LIMITSCANS | TJFLAG_STOPONWARNING

    static func greyImage(from bytes: [UInt8]) throws(ImageFileError) -> GreyImage {
        guard bytes.starts(with: signature) else { throw .unknownKind(readable: "PNG, PGM or JPEG") }
        guard bytes.count <= ImageFile.longestFile, let decoder = unsafe tjInitDecompress() else {
            throw .damaged("it is too large to be read")
        }
        defer { unsafe _ = tjDestroy(decoder) }
        let count = UInt(bytes.count)
        var (width, height, subsampling, colours) = (Int32(0), Int32(0), Int32(0), Int32(0))
        guard unsafe tjDecompressHeader3(decoder, bytes, count, &width, &height, &subsampling, &colours) == 0 else {
            throw .damaged("its header is not that of a JPEG")
        }
        try ImageFile.check(width: Int(width), height: Int(height))
        var pixels = [UInt8](repeating: 255, count: Int(width) * Int(height))
        guard unsafe tjDecompress2(decoder, bytes, count, &pixels, width, 0, height, TJPF_GRAY.rawValue, flags) == 0
        else {
            throw .damaged("its pixels are missing, damaged or in print colours")
        }
        return try ImageFile.image(width: Int(width), height: Int(height), pixels: pixels)
    }
}
#endif
