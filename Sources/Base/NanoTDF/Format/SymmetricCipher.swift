/// AES-256-GCM with the length of its tag, by the number that a NanoTDF gives it (section 3.3.1.4.3).
public enum SymmetricCipher: UInt8, CaseIterable, Hashable, Sendable {
    /// A tag of 8 bytes.
    case aes256GCM64 = 0
    /// A tag of 12 bytes.
    case aes256GCM96 = 1
    /// A tag of 13 bytes.
    case aes256GCM104 = 2
    /// A tag of 14 bytes.
    case aes256GCM112 = 3
    /// A tag of 15 bytes.
    case aes256GCM120 = 4
    /// A tag of 16 bytes.
    case aes256GCM128 = 5

    /// The bytes of the tag: 8, or 12 to 16.
    public var tagByteCount: Int {
        switch self {
        case .aes256GCM64: 8
        case .aes256GCM96: 12
        case .aes256GCM104: 13
        case .aes256GCM112: 14
        case .aes256GCM120: 15
        case .aes256GCM128: 16
        }
    }
}

extension SymmetricCipher: CustomStringConvertible {
    /// The name of the cipher with the bits of its tag.
    public var description: String { "AES-256-GCM with a tag of \(tagByteCount * 8) bits" }
}
