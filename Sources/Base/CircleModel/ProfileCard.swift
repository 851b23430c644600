internal import Bytes
public import Identity

/// The profile of a person with the person's devices, signed by the person's key.
///
/// Its bytes are the signature (64) and the fields in deterministic CBOR; `docs/spec/circle.md` has both.
public struct ProfileCard: Hashable, Sendable {
    /// The most devices of a person.
    public static let deviceLimit = 16
    /// The most members that hold a person's mail.
    public static let homeLimit = 4
    /// The most bytes of a card.
    public static let byteLimit = 8_192
    private static let label = DomainLabel("runar/profile-card/v1")
    private static let subject = "a profile card"

    /// The fields as they are encoded.
    private struct Fields: Codable {
        var version: Int
        var key: [UInt8]
        var name: String
        var blurb: String?
        var interests: String
        var location: String
        var hasHighEncryption: Bool
        var hasHighIdentityAssurance: Bool
        var did: String?
        var handle: String?
        var devices: [[UInt8]]
        var homes: [[UInt8]]
        var issued: UInt64
    }

    /// The key of the person.
    public let key: Ed25519PublicKey
    /// The statements of the person.
    public let profile: Profile
    /// The devices of the person, in the order of their ids.
    public let devices: [PeerId]
    /// The statements of the devices, in the same order.
    package let entries: [CardDevice]
    /// The members that hold the person's mail; without any, the nearest ones do.
    public let homes: [PeerId]
    /// The time of the signature in seconds since 1970; a later card replaces an earlier one.
    public let issuedSeconds: UInt64
    /// The encoding.
    public let bytes: [UInt8]

    /// Signs a card.
    ///
    /// `profile.id` is ignored: it follows from the key. Each device has signed that it belongs to the person.
    ///
    /// - Throws: ``CircleError``; `IdentityError` if the key cannot sign.
    package init(
        _ profile: Profile,
        devices: [CardDevice],
        homes: [PeerId] = [],
        issuedSeconds: UInt64,
        signedBy key: Ed25519KeyPair
    ) throws {
        let fields = Fields(
            version: 1,
            key: key.publicKey.bytes,
            name: profile.name,
            blurb: profile.blurb,
            interests: profile.interests,
            location: profile.location,
            hasHighEncryption: profile.hasHighEncryption,
            hasHighIdentityAssurance: profile.hasHighIdentityAssurance,
            did: profile.did,
            handle: profile.handle,
            devices: devices.sorted { $0.peerId < $1.peerId }.map(\.bytes),
            homes: homes.map(\.bytes),
            issued: issuedSeconds
        )
        let encoded = try CanonicalCBOR.encode(fields, of: Self.subject)
        let signature = try Ed25519Signature(of: Self.label.message(encoded), by: key.privateKey)
        try self.init(signature.bytes + encoded)
    }

    /// Reads a card and verifies its signature.
    ///
    /// - Throws: ``CircleError``.
    public init(_ bytes: [UInt8]) throws(CircleError) {
        let encoded = Array(bytes.dropFirst(Ed25519Signature.byteCount))
        let limit = Self.byteLimit - Ed25519Signature.byteCount
        let fields = try CanonicalCBOR.decode(Fields.self, from: encoded, limit: limit, of: Self.subject)
        try CanonicalCBOR.checkVersion(fields.version, of: Self.subject)
        let key: Ed25519PublicKey
        do {
            guard fields.issued <= UnixTime.maximum else { throw BytesError.invalidValue("a time after the year 9999") }
            key = try Ed25519PublicKey(rawRepresentation: fields.key)
            homes = try fields.homes.map { try PeerId(rawRepresentation: $0) }
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
        let signature = Array(bytes.prefix(Ed25519Signature.byteCount))
        guard key.isValidSignature(signature, for: Self.label.message(encoded)) else { throw .invalidSignature }
        guard (1...Self.deviceLimit).contains(fields.devices.count) else {
            throw .malformed(
                of: Self.subject,
                reason: "it names \(fields.devices.count) devices, 1 to \(Self.deviceLimit) are allowed"
            )
        }
        var entries: [CardDevice] = []
        for device in fields.devices { entries.append(try CardDevice(device, of: key)) }
        self.key = key
        self.entries = entries
        devices = entries.map(\.peerId)
        self.bytes = bytes
        issuedSeconds = fields.issued
        profile = Profile(
            id: Profile.id(ofPerson: key),
            name: fields.name,
            blurb: fields.blurb,
            interests: fields.interests,
            location: fields.location,
            hasHighEncryption: fields.hasHighEncryption,
            hasHighIdentityAssurance: fields.hasHighIdentityAssurance,
            did: fields.did,
            handle: fields.handle
        )
        try check()
    }

    private func check() throws(CircleError) {
        try profile.check()
        guard zip(devices, devices.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw .malformed(of: Self.subject, reason: "its devices are not in ascending order")
        }
        guard homes.count <= Self.homeLimit else {
            throw .tooLong("the list of homes", limit: Self.homeLimit, found: homes.count)
        }
    }

    /// Whether this card replaces another one of its person: it is later, or of equal time and with higher bytes.
    ///
    /// Two devices of a person may sign in one second. The order of the bytes makes every device keep one and the same card.
    package func replaces(_ other: ProfileCard?) -> Bool {
        guard let other else { return true }
        guard issuedSeconds == other.issuedSeconds else { return issuedSeconds > other.issuedSeconds }
        return other.bytes.lexicographicallyPrecedes(bytes)
    }

    /// The statement of a device; nil if the card does not name the device.
    package func entry(of device: PeerId) -> CardDevice? {
        devices.firstIndex(of: device).map { entries[$0] }
    }

    /// The key to which mail for a device is sealed; nil if the card does not name the device.
    package func mailKey(of device: PeerId) -> SealingKey? { entry(of: device)?.mailKey }

    /// The id of the person that other people see.
    public var publicID: PublicID { profile.publicID }

    // MARK: Text

    /// The beginning of each text form.
    public static let textPrefix = "runar://person/"
    /// Twice the longest text form, for white space in it.
    private static let textByteLimit = 2 * (textPrefix.utf8.count + (byteLimit + 2) / 3 * 4)

    /// The text form, for a QR code or another channel: `runar://person/` and the bytes in base64url.
    public var text: String { Self.textPrefix + Base64URL.encode(bytes) }

    /// Whether a text begins like the text form of a card.
    public static func isText(_ text: String) -> Bool { PassedLink.link(in: text)?.hasPrefix(textPrefix) == true }

    /// Reads the text form, which may contain white space, and verifies the signature.
    ///
    /// - Throws: ``CircleError``.
    public init(text: String) throws(CircleError) {
        guard text.utf8.count <= Self.textByteLimit else {
            throw .tooLong(Self.subject, limit: Self.textByteLimit, found: text.utf8.count)
        }
        guard let letters = PassedLink.link(in: text)?.replacing(" ", with: ""), letters.hasPrefix(Self.textPrefix)
        else {
            throw .malformed(of: Self.subject, reason: "it does not begin with \(Self.textPrefix)")
        }
        let bytes: [UInt8]
        do {
            bytes = try Base64URL.decode(String(letters.dropFirst(Self.textPrefix.count)))
        } catch {
            throw .malformed(of: Self.subject, reason: "a letter is missing or wrong; copy it again in full")
        }
        try self.init(bytes)
    }
}
