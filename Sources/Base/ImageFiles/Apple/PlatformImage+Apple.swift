#if canImport(Darwin)
internal import CoreFoundation
internal import CoreGraphics
internal import ImageIO
internal import QRCode

/// Images that only the platform can read: JPEG, HEIC and whatever else ImageIO knows.
enum PlatformImage {
    static func greyImage(from bytes: [UInt8]) throws(ImageFileError) -> GreyImage {
        let unknown = ImageFileError.unknownKind(readable: "PNG, PGM, JPEG or HEIC")
        guard let data = unsafe CFDataCreate(nil, bytes, bytes.count),
            let source = CGImageSourceCreateWithData(data, nil),
            let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any],
            let width = properties[kCGImagePropertyPixelWidth] as? Int,
            let height = properties[kCGImagePropertyPixelHeight] as? Int
        else { throw unknown }
        try ImageFile.check(width: width, height: height)
        guard let image = CGImageSourceCreateImageAtIndex(source, 0, nil) else { throw unknown }
        var pixels = [UInt8](repeating: 255, count: width * height)
        let isDrawn = unsafe pixels.withUnsafeMutableBytes { buffer in
            guard
                let context = unsafe CGContext(
                    data: buffer.baseAddress,
                    width: width,
                    height: height,
                    bitsPerComponent: 8,
                    bytesPerRow: width,
                    space: CGColorSpaceCreateDeviceGray(),
                    bitmapInfo: CGImageAlphaInfo.none.rawValue
                )
            else { return false }
            context.draw(image, in: CGRect(x: 0, y: 0, width: width, height: height))
            return true
        }
        guard isDrawn else { throw unknown }
        return try ImageFile.image(width: width, height: height, pixels: pixels)
    }
}
#endif
