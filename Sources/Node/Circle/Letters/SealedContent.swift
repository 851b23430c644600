internal import CircleModel
internal import Crypto
internal import Essentials
internal import Identity

/// Content that is encrypted once for all recipients, and copied for each of them under a key of its own.
///
/// Two copies have no bytes in common, so that a holder of two mailboxes does not see that both got one message. Each key
/// is random and used once, therefore the nonce is zero.
package struct SealedContent: Sendable {
    /// The keys of one copy, which its letter contains.
    package struct Keys: Hashable, Sendable {
        /// The bytes of each key.
        static let byteCount = 32

        let content: [UInt8]
        let copy: [UInt8]
    }

    private static let tagByteCount = 16
    private static let contentLabel = DomainLabel("runar/letter-content/v1").prefix
    private static let copyLabel = DomainLabel("runar/letter-copy/v1").prefix

    /// The SHA-256 of the content.
    package let digest: [UInt8]
    private let key: SymmetricKey
    private let ciphertext: [UInt8]

    /// Encrypts content under a new key.
    package init(_ content: [UInt8]) throws {
        key = SymmetricKey(size: .bits256)
        digest = Array(SHA256.hash(data: content))
        ciphertext = try Self.seal(content, key, Self.contentLabel)
    }

    /// Returns a copy for one recipient, with its keys.
    package func copy() throws -> (bytes: [UInt8], keys: Keys) {
        let copyKey = SymmetricKey(size: .bits256)
        let bytes = try Self.seal(ciphertext, copyKey, Self.copyLabel)
        return (bytes, Keys(content: Self.bytes(of: key), copy: Self.bytes(of: copyKey)))
    }

    /// Opens a copy.
    ///
    /// - Throws: ``CircleError/malformed(of:reason:)``.
    static func open(_ copy: [UInt8], with keys: Keys, digest: [UInt8]) throws(CircleError) -> [UInt8] {
        do {
            let ciphertext = try open(copy, SymmetricKey(data: keys.copy), copyLabel)
            let content = try open(ciphertext, SymmetricKey(data: keys.content), contentLabel)
            guard Array(SHA256.hash(data: content)) == digest else { throw CryptoKitError.authenticationFailure }
            return content
        } catch {
            throw .malformed(of: "the content of a letter", reason: "it does not open with the keys of its letter")
        }
    }

    private static func seal(_ plaintext: [UInt8], _ key: SymmetricKey, _ label: [UInt8]) throws -> [UInt8] {
        let box = try AES.GCM.seal(plaintext, using: key, nonce: nonce(), authenticating: label)
        return Array(box.ciphertext) + Array(box.tag)
    }

    private static func open(_ sealed: [UInt8], _ key: SymmetricKey, _ label: [UInt8]) throws -> [UInt8] {
        guard sealed.count >= tagByteCount else { throw CryptoKitError.incorrectParameterSize }
        let box = try AES.GCM.SealedBox(
            nonce: nonce(),
            ciphertext: sealed.dropLast(tagByteCount),
            tag: sealed.suffix(tagByteCount)
        )
        return Array(try AES.GCM.open(box, using: key, authenticating: label))
    }

    private static func nonce() throws -> AES.GCM.Nonce { try AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 12)) }

    private static func bytes(of key: SymmetricKey) -> [UInt8] { unsafe key.withUnsafeBytes { unsafe Array($0) } }
}
