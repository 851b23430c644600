internal import Bytes
internal import Identity

/// The keys that an issuer publishes (RFC 9578, section 4).
public struct IssuerDirectory: Hashable, Sendable {
    /// A key for tokens of type 0x0002.
    public struct Key: Hashable, Sendable {
        /// The public key.
        public let publicKey: TokenPublicKey
        /// The first second since 1970 at which clients use the key; nil for a key in use.
        public let notBefore: UInt64?

        /// Creates an entry.
        public init(_ publicKey: TokenPublicKey, notBefore: UInt64? = nil) {
            self.publicKey = publicKey
            self.notBefore = notBefore
        }
    }

    /// The path of the directory at the issuer.
    public static let path = "/.well-known/private-token-issuer-directory"
    /// The media type of the directory.
    public static let mediaType = "application/private-token-issuer-directory"
    /// The longest directory that is read, in bytes.
    public static let byteLimit = 64 << 10
    /// The most keys of a directory.
    public static let keyLimit = 16
    /// The most bytes of the address for requests.
    public static let addressByteLimit = 2_048

    private static let limits = JSONLimits(byteCount: byteLimit, fieldCount: 64, depth: 8)

    /// The address for token requests: a URL, absolute or relative to the directory's.
    public let issuerRequestURI: String
    /// The keys for tokens of type 0x0002, the preferred one first.
    public let keys: [Key]

    /// Creates the directory of an issuer, all of whose keys are live.
    ///
    /// The 1 to 16 keys are in the order of preference.
    ///
    /// - Throws: ``BlindTokenError/equalTruncatedIds(_:_:)`` for two keys with the same truncated id, and
    ///   ``BlindTokenError/malformed(_:reason:)``.
    public init(issuerRequestURI: String, keys: [Key]) throws(BlindTokenError) {
        try self.init(unchecked: keys, issuerRequestURI: issuerRequestURI)
        var first: [UInt8: TokenKeyId] = [:]
        for id in keys.map(\.publicKey.keyId) {
            if let other = first.updateValue(id, forKey: id.truncated) { throw .equalTruncatedIds(other, id) }
        }
    }

    /// Reads a directory; keys for tokens of other types and unknown fields are ignored.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)``, also for a key of type 0x0002 that cannot be used.
    public init(json: [UInt8]) throws(BlindTokenError) {
        let fields: [JSONField]
        do {
            fields = try JSONValue.fields(of: json, limits: Self.limits)
        } catch {
            throw .malformed(.directory, reason: error.description)
        }
        guard case .string(let address)? = fields["issuer-request-uri"] else {
            throw .malformed(.directory, reason: "its field \"issuer-request-uri\" is missing or not a text")
        }
        guard case .array(let entries)? = fields["token-keys"] else {
            throw .malformed(.directory, reason: "its field \"token-keys\" is missing or not a list")
        }
        var keys: [Key] = []
        for entry in entries {
            if let key = try Self.key(of: entry) { keys.append(key) }
        }
        try self.init(unchecked: keys, issuerRequestURI: address)
    }

    private init(unchecked keys: [Key], issuerRequestURI: String) throws(BlindTokenError) {
        guard (1...Self.keyLimit).contains(keys.count) else {
            throw .malformed(.directory, reason: "it has \(keys.count) keys of type 2, not 1 to \(Self.keyLimit)")
        }
        guard (1...Self.addressByteLimit).contains(issuerRequestURI.utf8.count),
            issuerRequestURI.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && !#""\<>"#.utf8.contains($0) })
        else {
            throw .malformed(.directory, reason: "its request address is not a URL")
        }
        self.issuerRequestURI = issuerRequestURI
        self.keys = keys
    }

    /// The directory as JSON.
    public var json: [UInt8] {
        let entries = keys.map { key in
            let text = Base64URL.encode(key.publicKey.subjectPublicKeyInfo, padded: true)
            let time = key.notBefore.map { ",\"not-before\":\($0)" } ?? ""
            return "{\"token-type\":\(BlindRSA.tokenType),\"token-key\":\"\(text)\"\(time)}"
        }
        let text = "{\"issuer-request-uri\":\"\(issuerRequestURI)\",\"token-keys\":[\(entries.joined(separator: ","))]}"
        return [UInt8](text.utf8)
    }

    /// Returns the key that a client uses: the first one whose not-before is not after `now`, in seconds since 1970.
    ///
    /// - Throws: ``BlindTokenError/noUsableKey``.
    public func key(at now: UInt64) throws(BlindTokenError) -> TokenPublicKey {
        guard let key = keys.first(where: { $0.notBefore ?? 0 <= now }) else { throw .noUsableKey }
        return key.publicKey
    }

    private static func key(of entry: JSONValue) throws(BlindTokenError) -> Key? {
        guard case .object(let fields) = entry, case .integer(let type)? = fields["token-type"] else {
            throw .malformed(.directory, reason: "a key has no \"token-type\"")
        }
        guard type == UInt64(BlindRSA.tokenType) else { return nil }
        guard case .string(let text)? = fields["token-key"] else {
            throw .malformed(.directory, reason: "a key has no \"token-key\"")
        }
        let info: [UInt8]
        do {
            info = try Base64URL.decode(text, padding: .required)
        } catch {
            throw .malformed(.directory, reason: "a key is not base64url with padding")
        }
        switch fields["not-before"] {
        case nil: return Key(try TokenPublicKey(subjectPublicKeyInfo: info))
        case .integer(let time): return Key(try TokenPublicKey(subjectPublicKeyInfo: info), notBefore: time)
        default: throw .malformed(.directory, reason: "a key has a \"not-before\" that is not a whole number from 0")
        }
    }
}

extension [JSONField] {
    /// The value of the field with the name; nil without it.
    fileprivate subscript(name: String) -> JSONValue? { first { $0.name == name }?.value }
}
