public import Essentials
public import Identity

/// The statements of a person, or of a stream, about itself.
///
/// The id of a person's profile follows from the key of the person, so that no other person can use it
/// (``id(ofPerson:)``). The key stores of the original model lie with `KeyStoreManager`, one for each pair of devices.
public struct Profile: Hashable, Sendable, Identifiable {
    /// The most bytes of a name.
    public static let nameByteLimit = 128
    /// The most bytes of a blurb, and of the interests.
    public static let textByteLimit = 1_024
    /// The most bytes of a location, a decentralised identifier, and a handle.
    public static let shortByteLimit = 256
    private static let label = DomainLabel("runar/person-id/v1")

    /// The id on this device.
    public let id: UUID
    /// The name, 1 to 128 bytes.
    public var name: String
    /// A few sentences of the person.
    public var blurb: String?
    /// The interests of the person.
    public var interests: String
    /// The place of the person.
    public var location: String
    /// Whether the person's devices use post-quantum keys.
    public var hasHighEncryption: Bool
    /// Whether an identity server verified the person.
    public var hasHighIdentityAssurance: Bool
    /// The decentralised identifier (W3C DID 1.0), if there is one.
    public var did: String?
    /// The name of the person at an identity server.
    public var handle: String?

    /// Makes a profile; ``check()`` checks the lengths.
    public init(
        id: UUID,
        name: String,
        blurb: String? = nil,
        interests: String = "",
        location: String = "",
        hasHighEncryption: Bool = false,
        hasHighIdentityAssurance: Bool = false,
        did: String? = nil,
        handle: String? = nil
    ) {
        self.id = id
        self.name = name
        self.blurb = blurb
        self.interests = interests
        self.location = location
        self.hasHighEncryption = hasHighEncryption
        self.hasHighIdentityAssurance = hasHighIdentityAssurance
        self.did = did
        self.handle = handle
    }

    /// The id that other people see.
    public var publicID: PublicID { PublicID(of: id) }

    /// The id of a person's profile: a UUID of version 8 (RFC 9562) from the person's key.
    public static func id(ofPerson key: Ed25519PublicKey) -> UUID {
        UUID(version8: label.message(key.bytes))
    }

    /// Checks the lengths, and that each text shows as itself.
    ///
    /// - Throws: ``CircleError``.
    public func check() throws(CircleError) {
        guard !name.isEmpty else { throw .malformed(of: "a profile", reason: "it has no name") }
        let texts: [(name: String, text: String?, limit: Int)] = [
            ("the name", name, Self.nameByteLimit), ("the blurb", blurb, Self.textByteLimit),
            ("the interests", interests, Self.textByteLimit), ("the location", location, Self.shortByteLimit),
            ("the identifier", did, Self.shortByteLimit), ("the handle", handle, Self.shortByteLimit),
        ]
        for (what, text, limit) in texts {
            guard let text else { continue }
            guard text.utf8.count <= limit else { throw .tooLong(what, limit: limit, found: text.utf8.count) }
            guard text.unicodeScalars.allSatisfy({ PlainText.isPlain($0) || $0 == "\n" && what == "the blurb" }) else {
                throw .malformed(of: what, reason: "it has a character that does not show")
            }
        }
    }
}
