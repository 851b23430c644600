internal import Bytes
internal import Crypto
public import Identity
internal import Platform

/// A file that a peer wants to send.
public struct FileOffer: Hashable, Sendable {
    /// The peer that offers it.
    public let peer: PeerId
    /// The network in which it is offered.
    public let network: NetworkId
    /// The name it will get: the peer's, made harmless.
    public let name: String
    /// Its size, in bytes.
    public let byteCount: UInt64
    /// Its SHA-256, 32 bytes.
    public let sha256: [UInt8]
}

/// The progress of a file transfer.
public struct FileProgress: Hashable, Sendable {
    /// The other side.
    public let peer: PeerId
    /// The file's name.
    public let name: String
    /// The bytes transferred so far, including those of an earlier attempt.
    public let transferred: UInt64
    /// The size of the whole file, in bytes.
    public let total: UInt64
    /// The path of the complete file; nil before, and on the sending side.
    public let path: String?
}

extension FileOffer {
    static let version: UInt8 = 2
    static let byteLimit = 1024
    private static let nameByteLimit = 255
    /// Leaves room for a number within the 255 bytes that file systems allow.
    private static let storedNameByteLimit = 200
    /// A longer extension, with its dot, is a part of the name.
    private static let extensionByteLimit = 32

    /// The first unit of a bulk stream: version, size, SHA-256, name.
    static func encode(name: String, byteCount: UInt64, sha256: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(version)
        writer.write(byteCount)
        writer.write(sha256)
        writer.writeVarintPrefixed(Array((name.utf8.count <= nameByteLimit ? name : harmless(name)).utf8))
        return writer.bytes
    }

    init(_ bytes: [UInt8], from peer: PeerId, in network: NetworkId) throws(BytesError) {
        var reader = ByteReader(bytes)
        guard try reader.readUInt8() == Self.version else { throw .nonCanonical("a file offer of another version") }
        byteCount = try reader.readUInt64()
        sha256 = try reader.readBytes(count: 32)
        let name = try reader.readVarintPrefixedBytes(limit: Self.nameByteLimit)
        try reader.finish()
        self.name = Self.harmless(String(decoding: name, as: UTF8.self))
        self.peer = peer
        self.network = network
    }

    /// The last component of a name without anything that a file system or a terminal takes for more than a letter.
    ///
    /// Directories, leading dots, control and bidirectional characters are removed. A result of more than 200 bytes is
    /// shortened before its last extension.
    ///
    /// Invisible characters are removed first, and the rest compares Unicode scalars: a `Character` is a separator with
    /// the marks that follow it, and not equal to the separator alone.
    package static func harmless(_ name: String) -> String {
        let shown = PlainText.kept(of: name).unicodeScalars
        let last = shown.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? Substring.UnicodeScalarView()
        let clean = last.filter { $0 != ":" }.drop { Self.isHiding($0) }
        var scalars = String.UnicodeScalarView(clean)
        while let end = scalars.last, end == "." || end == " " { scalars.removeLast() }
        return scalars.isEmpty ? "file" : Self.shortened(String(scalars))
    }

    /// Shortens a name between characters, before its last extension.
    ///
    /// Eight digits of the SHA-256 of the whole name replace the rest, so that names that differ in it remain different.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > Self.storedNameByteLimit else { return name }
        var stem = name[...]
        var ending = name[name.endIndex...]
        if let dot = name.lastIndex(of: "."), name[dot...].utf8.count <= Self.extensionByteLimit {
            (stem, ending) = (name[..<dot], name[dot...])
        }
        let mark = "~" + Hex.encode(Array(SHA256.hash(data: Array(name.utf8)).prefix(4)))
        let room = Self.storedNameByteLimit - mark.utf8.count - ending.utf8.count
        while stem.utf8.count > room { stem.removeLast() }
        return (stem.isEmpty ? "file" : String(stem)) + mark + ending
    }

    /// Whether a scalar at the beginning of a name hides the file, makes an option of it, or is invisible.
    private static func isHiding(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar == " " || scalar == "-" || scalar.properties.isDefaultIgnorableCodePoint
    }
}
