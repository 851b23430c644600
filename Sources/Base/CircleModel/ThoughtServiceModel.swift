internal import Bytes
internal import Identity

/// A thought as it travels: the plaintext of a sealed message, in deterministic CBOR (`docs/spec/circle.md`).
public struct ThoughtServiceModel: Hashable, Sendable {
    /// The most bytes of content.
    public static let contentByteLimit = 192 * 1_024
    /// The most bytes of a content type and of a file name.
    public static let nameByteLimit = 255
    /// The bytes of a salt.
    package static let saltByteCount = 16
    private static let byteLimit = contentByteLimit + 2_048
    private static let label = DomainLabel("runar/thought/v1")
    private static let subject = "a thought"

    /// The fields as they are encoded.
    private struct Fields: Codable {
        var version: Int
        var creatorPublicID: PublicID
        var streamPublicID: PublicID
        var mediaType: MediaType
        var createdAt: UInt64
        var content: [UInt8]
        var contentType: String?
        var fileName: String?
        var salt: [UInt8]
    }

    /// The id of the thought: SHA-256 of a label and the encoding, which includes a salt so that others cannot confirm a
    /// guess by it.
    public let publicID: PublicID
    /// The profile of the person who made the thought.
    public let creatorPublicID: PublicID
    /// The stream to which it belongs.
    public let streamPublicID: PublicID
    /// The kind of the content.
    public let mediaType: MediaType
    /// The time at which it was made by the creator's clock, in milliseconds since 1970.
    public let createdAtMilliseconds: UInt64
    /// The content, at most ``contentByteLimit`` bytes.
    public let content: [UInt8]
    /// The media type of RFC 6838, such as `image/png`, for content that is not text.
    public let contentType: String?
    /// The name of the file of the content.
    public let fileName: String?
    package let salt: [UInt8]
    /// The encoding.
    public let bytes: [UInt8]

    /// Makes a thought.
    ///
    /// - Throws: ``CircleError``.
    public init(
        creatorPublicID: PublicID,
        streamPublicID: PublicID,
        mediaType: MediaType,
        createdAtMilliseconds: UInt64,
        content: [UInt8],
        contentType: String? = nil,
        fileName: String? = nil
    ) throws(CircleError) {
        try self.init(
            creatorPublicID: creatorPublicID,
            streamPublicID: streamPublicID,
            mediaType: mediaType,
            createdAtMilliseconds: createdAtMilliseconds,
            content: content,
            contentType: contentType,
            fileName: fileName,
            salt: (0..<Self.saltByteCount).map { _ in UInt8.random(in: 0...255) }
        )
    }

    package init(
        creatorPublicID: PublicID,
        streamPublicID: PublicID,
        mediaType: MediaType,
        createdAtMilliseconds: UInt64,
        content: [UInt8],
        contentType: String? = nil,
        fileName: String? = nil,
        salt: [UInt8]
    ) throws(CircleError) {
        let fields = Fields(
            version: 1,
            creatorPublicID: creatorPublicID,
            streamPublicID: streamPublicID,
            mediaType: mediaType,
            createdAt: createdAtMilliseconds,
            content: content,
            contentType: contentType,
            fileName: fileName,
            salt: salt
        )
        try self.init(fields, CanonicalCBOR.encode(fields, of: Self.subject))
    }

    /// Reads a thought.
    ///
    /// - Throws: ``CircleError``.
    public init(_ bytes: [UInt8]) throws(CircleError) {
        let fields = try CanonicalCBOR.decode(Fields.self, from: bytes, limit: Self.byteLimit, of: Self.subject)
        try CanonicalCBOR.checkVersion(fields.version, of: Self.subject)
        try self.init(fields, bytes)
    }

    /// Reads a thought that this device stored under its id, which proves the encoding.
    package init(_ bytes: [UInt8], storedAs id: PublicID) throws {
        try self.init(CBOR.deserialize(Fields.self, from: bytes), bytes, id)
    }

    private init(_ fields: Fields, _ bytes: [UInt8], _ id: PublicID? = nil) throws(CircleError) {
        self.bytes = bytes
        publicID = id ?? PublicID(hash: Self.label.message(bytes))
        creatorPublicID = fields.creatorPublicID
        streamPublicID = fields.streamPublicID
        mediaType = fields.mediaType
        createdAtMilliseconds = fields.createdAt
        content = fields.content
        contentType = fields.contentType
        fileName = fields.fileName
        salt = fields.salt
        try check()
    }

    private func check() throws(CircleError) {
        guard content.count <= Self.contentByteLimit else {
            throw .tooLong("the content", limit: Self.contentByteLimit, found: content.count)
        }
        guard !mediaType.isText || String(utf8: content) != nil else {
            throw .malformed(of: Self.subject, reason: "its text is not UTF-8")
        }
        guard salt.count == Self.saltByteCount else {
            throw .malformed(of: Self.subject, reason: "its salt has \(salt.count) bytes and not \(Self.saltByteCount)")
        }
        guard createdAtMilliseconds / 1_000 <= UnixTime.maximum else {
            throw .malformed(of: Self.subject, reason: "its time is after the year 9999")
        }
        for (what, text) in [("the content type", contentType), ("the file name", fileName)] {
            guard let text else { continue }
            guard text.utf8.count <= Self.nameByteLimit else {
                throw .tooLong(what, limit: Self.nameByteLimit, found: text.utf8.count)
            }
            guard text.unicodeScalars.allSatisfy(PlainText.isPlain) else {
                throw .malformed(of: what, reason: "it has a character that does not show")
            }
        }
    }

    /// The text of a thought whose media type is a text; nil for other content.
    public var text: String? { mediaType.isText ? String(utf8: content) : nil }
}
