internal import Bytes
internal import Crypto
internal import CryptoPrimitives

/// The symmetric state of a Noise handshake (The Noise Protocol Framework, section 5.2) for Noise_IKpsk2.
///
/// The names of the paper are in the comments: C is the chaining key, H the hash.
struct SymmetricState: Sendable {
    /// The hash of the name of the construction: C at the beginning.
    private static let initialKey = BLAKE2s.hash(Array("Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s".utf8))
    /// The hash of C and of the identifier: H before the responder's key.
    private static let initialHash = BLAKE2s.hash(initialKey + Array("WireGuard v1 zx2c4 Jason@zx2c4.com".utf8))

    private var chainingKey: SecretBytes
    private var hash: [UInt8]

    /// Begins a handshake with the public key of its responder.
    init(responder: X25519PublicKey) {
        chainingKey = SecretBytes(copying: Self.initialKey)
        hash = Self.initialHash
        mix(hash: responder.bytes)
    }

    /// H := HASH(H || bytes).
    mutating func mix(hash bytes: some Collection<UInt8>) {
        var next = BLAKE2s()
        next.update(hash)
        next.update(bytes)
        hash = next.finalize()
    }

    /// C := KDF1(C, public key), and the public key into H: the ephemeral key of a handshake with a preshared key.
    mutating func mix(ephemeral key: X25519PublicKey) {
        mix(hash: key.bytes)
        var keys = derive(key.bytes, count: 1)
        chainingKey = SecretBytes(consuming: &keys[0])
    }

    /// C := KDF1(C, secret).
    mutating func mix(_ secret: SecretBytes) {
        var keys = unsafe secret.withUnsafeBytes { unsafe derive($0, count: 1) }
        chainingKey = SecretBytes(consuming: &keys[0])
    }

    /// (C, key) := KDF2(C, secret).
    mutating func mixAndDerive(_ secret: SecretBytes) -> SymmetricKey {
        var keys = unsafe secret.withUnsafeBytes { unsafe derive($0, count: 2) }
        chainingKey = SecretBytes(consuming: &keys[0])
        return SymmetricKey(consuming: &keys[1])
    }

    /// (C, temporary, key) := KDF3(C, preshared key), and the temporary value into H.
    mutating func mixAndDerive(_ preshared: PresharedKey) -> SymmetricKey {
        var keys = unsafe preshared.secret.withUnsafeBytes { unsafe derive($0, count: 3) }
        chainingKey = SecretBytes(consuming: &keys[0])
        mix(hash: keys[1])
        keys[1].wipe()
        return SymmetricKey(consuming: &keys[2])
    }

    /// Seals a field under a key that is used once, and mixes the result into H.
    mutating func seal(_ field: [UInt8], with key: SymmetricKey) -> [UInt8] {
        let sealed = HandshakeCipher.seal(field, with: key, authenticating: hash)
        mix(hash: sealed)
        return sealed
    }

    /// Opens a field under a key that is used once, and mixes the sealed one into H; nil if it is not authentic.
    mutating func open(_ sealed: ArraySlice<UInt8>, with key: SymmetricKey) -> [UInt8]? {
        guard let field = HandshakeCipher.open(sealed, with: key, authenticating: hash) else { return nil }
        mix(hash: sealed)
        return field
    }

    /// Returns the two keys of the session: the one that the initiator sends with, and the one of the responder.
    func split() -> (initiator: SymmetricKey, responder: SymmetricKey) {
        var keys = derive([], count: 2)
        return (SymmetricKey(consuming: &keys[0]), SymmetricKey(consuming: &keys[1]))
    }

    private func derive(_ input: some Collection<UInt8>, count: Int) -> [[UInt8]] {
        unsafe chainingKey.withUnsafeBytes { key in unsafe HKDFBLAKE2s.derive(key: key, input: input, count: count) }
    }
}

extension SymmetricKey {
    /// Takes 32 bytes over and wipes `bytes`.
    init(consuming bytes: inout [UInt8]) {
        self.init(data: bytes)
        bytes.wipe()
    }
}

/// ChaCha20-Poly1305 with the nonce 0, for the fields of handshakes; each key seals one field.
enum HandshakeCipher {
    static let tagByteCount = 16

    static func seal(_ field: [UInt8], with key: SymmetricKey, authenticating hash: [UInt8]) -> [UInt8] {
        do {
            let nonce = try ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: 12))
            return Array(
                try ChaChaPoly.seal(field, using: key, nonce: nonce, authenticating: hash).combined.dropFirst(12)
            )
        } catch {
            preconditionFailure("ChaCha20-Poly1305 refused a field of \(field.count) bytes")
        }
    }

    static func open(_ sealed: ArraySlice<UInt8>, with key: SymmetricKey, authenticating hash: [UInt8]) -> [UInt8]? {
        do {
            let box = try ChaChaPoly.SealedBox(combined: [UInt8](repeating: 0, count: 12) + sealed)
            return Array(try ChaChaPoly.open(box, using: key, authenticating: hash))
        } catch {
            return nil
        }
    }
}
