internal import Bytes

/// The last message of the receiver of a file.
enum FileReceipt: Equatable, Sendable {
    /// The file is stored under this name.
    case stored(name: String)
    /// The content differs from the offered one.
    case damaged

    /// A name has at most 255 bytes.
    private static let nameByteLimit = 255
    /// The code, the length and the name.
    static let byteLimit = 1 + 2 + nameByteLimit

    private static let storedCode: UInt8 = 0
    private static let damagedCode: UInt8 = 1

    /// The receipt in its wire form.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .stored(let name):
            writer.write(Self.storedCode)
            writer.writeVarintPrefixed(Array(name.utf8.prefix(Self.nameByteLimit)))
        case .damaged: writer.write(Self.damagedCode)
        }
        return writer.bytes
    }

    /// Reads a receipt; its name is made harmless, as that of an offer.
    init(_ bytes: [UInt8]) throws(BytesError) {
        var reader = ByteReader(bytes)
        switch try reader.readUInt8() {
        case Self.storedCode:
            let name = try reader.readVarintPrefixedBytes(limit: Self.nameByteLimit)
            self = .stored(name: FileOffer.harmless(String(decoding: name, as: UTF8.self)))
        case Self.damagedCode: self = .damaged
        case let code: throw .nonCanonical("a receipt of a file with the code \(code)")
        }
        try reader.finish()
    }
}
