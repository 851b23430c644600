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
        // The image is drawn smaller if it is larger than a `GreyImage` may be.
        let (longest, limit) = (max(width, height), GreyImage.longestSide)
        func side(_ side: Int) -> Int { longest <= limit ? side : max(1, side * limit / longest) }
        let (drawnWidth, drawnHeight) = (side(width), side(height))
        guard let pixels = drawn(image, width: drawnWidth, height: drawnHeight) else { throw unknown }
        return try ImageFile.image(width: drawnWidth, height: drawnHeight, pixels: pixels)
    }

    /// The greys of an image that is drawn at other sides; nil if it cannot be drawn.
    private static func drawn(_ image: CGImage, width: Int, height: Int) -> [UInt8]? {
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
            context.interpolationQuality = .high
            context.draw(image, in: CGRect(x: 0, y: 0, width: width, height: height))
            return true
        }
        return isDrawn ? pixels : nil
    }
}
#endif
