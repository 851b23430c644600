internal import Bytes

/// The algorithm of the keys in one pool.
public enum OneTimeKeySuite: UInt8, CaseIterable, Hashable, Sendable {
    /// ECDH on P-256: messages are NanoTDFs.
    case p256 = 1
    /// X-Wing, the hybrid of ML-KEM-768 and X25519 (draft-connolly-cfrg-xwing-kem-06): an extension of Runar's.
    case xWing = 2

    /// The length of a public key: 33 bytes (compressed form of X9.62) or 1,216.
    public var publicKeyByteCount: Int {
        switch self {
        case .p256: 33
        case .xWing: 1_216
        }
    }

    /// The default number of keys in a pool: 8,192, or 1,024 of the larger ones.
    public var defaultCapacity: Int {
        switch self {
        case .p256: 8_192
        case .xWing: 1_024
        }
    }

    /// The most keys that a pool has.
    public var capacityLimit: Int { defaultCapacity }

    /// Whether the system's cryptography knows the algorithm.
    public var isSupported: Bool {
        switch self {
        case .p256: true
        case .xWing: XWing.isSupported
        }
    }

    /// The algorithms of this system, the preferred one first.
    public static var supported: [OneTimeKeySuite] { [.xWing, .p256].filter(\.isSupported) }
}

extension ByteReader {
    mutating func readSuite() throws(BytesError) -> OneTimeKeySuite {
        let number = try readUInt8()
        guard let suite = OneTimeKeySuite(rawValue: number) else { throw .invalidValue("keys of kind \(number)") }
        return suite
    }
}

extension OneTimeKeySuite: CustomStringConvertible {
    /// The name for people: `P-256` or `X-Wing`.
    public var description: String {
        switch self {
        case .p256: "P-256"
        case .xWing: "X-Wing"
        }
    }
}
