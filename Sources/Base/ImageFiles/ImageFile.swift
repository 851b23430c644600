public import Failures
public import QRCode

/// Decodes image files to grey levels.
///
/// PNG and PGM are decoded here on every platform; the platform decodes JPEG, and on Apple systems further formats. An image
/// with longer sides than a `GreyImage` is scaled down while it is decoded. A file is untrusted: memory is allocated for the
/// result and for one row, and nothing traps.
public enum ImageFile {
    /// The largest file that is opened, in bytes.
    public static let longestFile = 64 << 20
    /// The longest side of an image in a file: that of a JPEG.
    static let longestSide = 65_535
    /// The most pixels of an image in a file: photos of cameras have at most 108 million, and each takes time.
    static let mostPixels = 1 << 27

    /// Decodes an image file to grey.
    ///
    /// - Throws: `ImageFileError` for an unsupported format, a damaged file or an image that is too large.
    public static func greyImage(from bytes: [UInt8]) throws(ImageFileError) -> GreyImage {
        if bytes.starts(with: PNGFile.signature) { return try PNGFile.greyImage(from: bytes) }
        if let kind = PGMFile.Kind(bytes) { return try PGMFile.greyImage(from: bytes, kind) }
        return try PlatformImage.greyImage(from: bytes)
    }

    /// An image whose sides and pixels come from a file.
    static func image(width: Int, height: Int, pixels: [UInt8]) throws(ImageFileError) -> GreyImage {
        do {
            return try GreyImage(width: width, height: height, pixels: pixels)
        } catch {
            throw .image(error)
        }
    }

    /// Refuses sides and a number of pixels beyond the limits, before anything is allocated for them.
    static func check(width: Int, height: Int) throws(ImageFileError) {
        let sides = 1...longestSide
        guard sides ~= width, sides ~= height, width * height <= mostPixels else {
            throw .size(width: width, height: height)
        }
    }

    /// Returns the luminance of a colour (ITU-R BT.601), of components from 0 to 255.
    static func luminance(red: Int, green: Int, blue: Int) -> Int { (77 * red + 150 * green + 29 * blue) >> 8 }
}

/// Why a file is no image that can be read.
public enum ImageFileError: Error, CodedError, Equatable, Sendable, CustomStringConvertible {
    /// It is of a kind that is not read on this system; these are.
    case unknownKind(readable: String)
    /// It ends too early or contradicts itself; where.
    case damaged(String)
    /// It has no pixels, or more than ``ImageFile`` reads.
    case size(width: Int, height: Int)
    /// Its pixels make no image.
    case image(GreyImageError)

    /// The failure in words, with the next step.
    public var description: String {
        switch self {
        case .unknownKind(let readable): "this is no picture that can be read here: give a \(readable) file"
        case .damaged(let place): "the picture is damaged: \(place)"
        case .size(let width, let height):
            "a picture of \(width)x\(height) pixels cannot be read: it may have \(ImageFile.mostPixels / 1_000_000) million"
        case .image(let error): error.description
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-picture", .unknown, .data) }
}
