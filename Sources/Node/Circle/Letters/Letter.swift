internal import Bytes
internal import CircleModel
package import Identity

/// The plaintext of a one-time sealed message between two devices of a circle (`docs/spec/circle.md`, section 5).
///
/// The one-time key binds it to the pair of devices; the signature proves its sender also where a holder brought it.
package struct Letter: Hashable, Sendable {
    /// The kind of a letter.
    package enum Kind: Int, Hashable, Sendable, Codable, CaseIterable {
        /// Content that is a ``ThoughtServiceModel``.
        case thought = 1
        /// The body is a ``Receipt``.
        case receipt = 2
        /// The body is a newer ``ProfileCard`` of the sender.
        case card = 3
        /// Content that is a ``StreamDescription``.
        case stream = 4
        /// The body is a ``ParticipationNotice``.
        case participation = 5
        /// The body is a ``TrustNotice``, from another device of the same person.
        case trust = 6
    }

    /// The most bytes of a body.
    static let bodyByteLimit = 16_384
    private static let byteLimit = bodyByteLimit + 1_024
    private static let label = DomainLabel("runar/letter/v1")
    private static let subject = "a letter"

    /// The fields as they are encoded; the signature covers all others.
    private struct Fields: Codable {
        var version: Int
        var kind: Kind
        var sender: [UInt8]
        var sent: UInt64
        var body: [UInt8]
        var contentKey: [UInt8]?
        var copyKey: [UInt8]?
        var digest: [UInt8]?
        var signature: [UInt8]?
    }

    let kind: Kind
    let sender: PeerId
    /// The time by the sender's clock, in milliseconds since 1970.
    let sentMilliseconds: UInt64
    let body: [UInt8]
    /// The keys of the letter's content and its SHA-256, for a letter with content.
    let content: (keys: SealedContent.Keys, digest: [UInt8])?
    /// The encoding.
    package let bytes: [UInt8]

    package static func == (left: Letter, right: Letter) -> Bool { left.bytes == right.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// Signs a letter to `recipient`.
    package init(
        _ kind: Kind,
        body: [UInt8] = [],
        content: (keys: SealedContent.Keys, digest: [UInt8])? = nil,
        sentMilliseconds: UInt64,
        to recipient: PeerId,
        signedBy key: some Signer
    ) throws {
        let sender = PeerId(publicKey: key.publicKey)
        var fields = Fields(
            version: 1,
            kind: kind,
            sender: sender.bytes,
            sent: sentMilliseconds,
            body: body,
            contentKey: content?.keys.content,
            copyKey: content?.keys.copy,
            digest: content?.digest
        )
        let signed = Self.message(try CanonicalCBOR.encode(fields, of: Self.subject), to: recipient)
        fields.signature = try Ed25519Signature(of: signed, by: key).bytes
        bytes = try CanonicalCBOR.encode(fields, of: Self.subject)
        self.kind = kind
        self.sender = sender
        self.sentMilliseconds = sentMilliseconds
        self.body = body
        self.content = content
    }

    /// Reads a letter to `recipient` and verifies that the device with `key` signed it.
    ///
    /// - Throws: ``CircleError``.
    init(_ bytes: [UInt8], to recipient: PeerId, from key: Ed25519PublicKey) throws(CircleError) {
        var fields = try CanonicalCBOR.decode(Fields.self, from: bytes, limit: Self.byteLimit, of: Self.subject)
        try CanonicalCBOR.checkVersion(fields.version, of: Self.subject)
        let signature = fields.signature ?? []
        fields.signature = nil
        let signed = Self.message(try CanonicalCBOR.encode(fields, of: Self.subject), to: recipient)
        do {
            sender = try PeerId(rawRepresentation: fields.sender)
            content = try Self.content(of: fields)
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
        self.bytes = bytes
        kind = fields.kind
        sentMilliseconds = fields.sent
        body = fields.body
        guard body.count <= Self.bodyByteLimit else {
            throw .tooLong("the body of a letter", limit: Self.bodyByteLimit, found: body.count)
        }
        guard sender == PeerId(publicKey: key),
            key.isValidSignature(signature, for: signed)
        else { throw .invalidSignature }
    }

    private static func content(
        of fields: Fields
    ) throws(BytesError) -> (keys: SealedContent.Keys, digest: [UInt8])? {
        switch (fields.contentKey, fields.copyKey, fields.digest) {
        case (nil, nil, nil): return nil
        case (let contentKey?, let copyKey?, let digest?):
            guard [contentKey, copyKey, digest].allSatisfy({ $0.count == SealedContent.Keys.byteCount }) else {
                throw .invalidValue("a key or a digest of another length than 32")
            }
            return (SealedContent.Keys(content: contentKey, copy: copyKey), digest)
        default: throw .invalidValue("content without both keys and the digest")
        }
    }

    private static func message(_ fields: [UInt8], to recipient: PeerId) -> [UInt8] {
        label.message(recipient.bytes, fields)
    }
}
