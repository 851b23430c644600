#if canImport(Darwin)
internal import CoreFoundation
internal import CoreGraphics
internal import ImageIO
internal import QRCode

/// Images that only the platform can decode: JPEG, HEIC and the other formats of ImageIO.
enum PlatformImage {
    static func greyImage(from bytes: [UInt8]) throws(ImageFileError) -> GreyImage {
        let unknown = ImageFileError.unknownKind(readable: "PNG, PGM, JPEG or HEIC")
        guard let data = unsafe CFDataCreate(nil, bytes, bytes.count),
            let source = CGImageSourceCreateWithData(data, nil),
            let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil),
            let width = number(kCGImagePropertyPixelWidth, in: properties),
            let height = number(kCGImagePropertyPixelHeight, in: properties)
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

    /// A whole number in a dictionary of CoreFoundation.
    ///
    /// Swift's casts of dictionaries and numbers of CoreFoundation succeed only in programs that load Foundation.
    private static func number(_ key: CFString, in dictionary: CFDictionary) -> Int? {
        guard let value = unsafe CFDictionaryGetValue(dictionary, Unmanaged.passUnretained(key).toOpaque()) else {
            return nil
        }
        let object = unsafe Unmanaged<CFTypeRef>.fromOpaque(value).takeUnretainedValue()
        guard CFGetTypeID(object) == CFNumberGetTypeID() else { return nil }
        var number: Int64 = 0
        let isExact = unsafe CFNumberGetValue(unsafeDowncast(object, to: CFNumber.self), .sInt64Type, &number)
        return isExact ? Int(exactly: number) : nil
    }
}
#endif
