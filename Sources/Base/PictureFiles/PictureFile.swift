public import QRCode

/// Turns the bytes of a picture file into greys.
///
/// PNG and PGM are read here, everywhere alike; the platform decodes JPEG, and on Apple systems what else it knows.
/// A file is a stranger's: nothing is allocated on its word beyond what `GreyPicture` allows, and nothing traps.
public enum PictureFile {
    /// The largest file that is worth opening.
    public static let longestFile = 64 << 20

    /// The picture in a file.
    ///
    /// - Throws: `PictureFileError`, which says what is wrong with it.
    public static func greyPicture(from bytes: [UInt8]) throws(PictureFileError) -> GreyPicture {
        if bytes.starts(with: PNGFile.signature) { return try PNGFile.greyPicture(from: bytes) }
        if bytes.starts(with: PGMFile.signature) { return try PGMFile.greyPicture(from: bytes) }
        return try PlatformPicture.greyPicture(from: bytes)
    }

    /// A picture whose sides and pixels come from a file.
    static func picture(width: Int, height: Int, pixels: [UInt8]) throws(PictureFileError) -> GreyPicture {
        do {
            return try GreyPicture(width: width, height: height, pixels: pixels)
        } catch {
            throw .picture(error)
        }
    }

    /// Refuses sides that `GreyPicture` would refuse, before anything is allocated for them.
    static func check(width: Int, height: Int) throws(PictureFileError) {
        let sides = 1...GreyPicture.longestSide
        guard sides ~= width, sides ~= height else { throw .picture(.size(width: width, height: height)) }
    }

    /// Returns the luminance of a colour (ITU-R BT.601), of components from 0 to 255.
    static func luminance(red: Int, green: Int, blue: Int) -> Int { (77 * red + 150 * green + 29 * blue) >> 8 }
}

/// Why a file is no picture that can be read.
public enum PictureFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It is of a kind that is not read on this system; these are.
    case unknownKind(readable: String)
    /// It ends too early or contradicts itself; where.
    case damaged(String)
    /// Its sides are out of bounds.
    case picture(GreyPictureError)

    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .unknownKind(let readable): "this is no picture that can be read here: give a \(readable) file"
        case .damaged(let place): "the picture is damaged: \(place)"
        case .picture(let error): error.description
        }
    }
}
