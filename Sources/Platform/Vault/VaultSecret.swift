public import Bytes

/// The secret that opens a vault.
public enum VaultSecret: Sendable {
    /// Words that a person knows, as UTF-8, 1 to 1024 bytes.
    case passphrase(SecretBytes)
    /// The path of a file that ``VaultFile/makeKeyFile(at:)`` made, for machines that start without a person.
    ///
    /// A reader of both files can read the keys.
    case keyFile(path: String)

    /// The longest passphrase.
    static let passphraseBytes = 1024
}

/// The derivation of a key from the bytes of the secret.
enum VaultKeyDerivation: Hashable {
    /// scrypt (RFC 7914) with r = 8 and p = 1; each step of the exponent doubles time and memory.
    case scrypt(log2Rounds: UInt8)
    /// The secret is 32 random bytes already.
    case keyFile

    /// 128 MiB and some tenths of a second, once for each opening.
    static let standard = VaultKeyDerivation.scrypt(log2Rounds: 17)

    /// The values accepted from a file: neither so cheap that guessing is easy nor more than 1 GiB of memory.
    static let acceptedLog2Rounds: ClosedRange<UInt8> = 14...20
    static let blockSize: UInt8 = 8
    static let parallelism: UInt8 = 1
}
