#if os(Linux)
internal import QRCode

/// Pictures that only the platform can read: none on Linux.
enum PlatformPicture {
    static func greyPicture(from bytes: [UInt8]) throws(PictureFileError) -> GreyPicture {
        throw .unknownKind(readable: "PNG or PGM")
    }
}
#endif
