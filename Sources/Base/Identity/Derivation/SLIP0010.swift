public import Bytes
internal import Crypto

/// Keys derived from one seed along a path: SLIP-0010 for Ed25519.
///
/// The master node is HMAC-SHA512 of the seed under the key "ed25519 seed"; a child is HMAC-SHA512 of (0, private
/// key, number) under its parent's chain code. The left half is the private key, the right half the chain code.
public enum SLIP0010 {
    /// The accepted sizes of a seed in bytes.
    public static let seedByteCounts = 16...64

    /// A node of the tree: a private key, and the chain code from which its children are derived.
    public struct ExtendedKey: Sendable {
        /// The 32 bytes of the Ed25519 private key.
        public let privateKey: SecretBytes
        /// The 32 bytes under which children are derived.
        public let chainCode: SecretBytes

        package init(privateKey: SecretBytes, chainCode: SecretBytes) {
            self.privateKey = privateKey
            self.chainCode = chainCode
        }

        /// The public half.
        public var publicKey: Ed25519PublicKey { keyPair.publicKey }

        /// Both halves, ready to sign.
        public var keyPair: Ed25519KeyPair {
            do {
                return Ed25519KeyPair(privateKey: try Ed25519PrivateKey(privateKey))
            } catch {
                preconditionFailure("a derived private key has \(privateKey.count) bytes")
            }
        }
    }

    /// Derives the node at `path`, such as `m/44'/0'/0'`, from a seed of 16 to 64 bytes.
    public static func derive(seed: SecretBytes, path: String) throws(IdentityError) -> ExtendedKey {
        try derive(seed: seed, path: DerivationPath(parsing: path))
    }

    /// Derives the node at `path` from a seed of 16 to 64 bytes; the caller's copy stays the caller's to wipe.
    public static func derive(seed: some Collection<UInt8>, path: String) throws(IdentityError) -> ExtendedKey {
        try derive(seed: SecretBytes(copying: seed), path: DerivationPath(parsing: path))
    }

    package static func derive(seed: SecretBytes, path: DerivationPath) throws(IdentityError) -> ExtendedKey {
        guard seedByteCounts.contains(seed.count) else { throw .invalidSeedLength(seed.count) }
        var node = node(key: SecretBytes(copying: Array("ed25519 seed".utf8)), message: seed)
        for index in path.indices {
            node = child(of: node, index: index)
        }
        return node
    }

    private static func child(of parent: ExtendedKey, index: UInt32) -> ExtendedKey {
        let hardened = index | 1 << 31
        let message = unsafe SecretBytes(count: 1 + 32 + 4) { buffer in
            unsafe parent.privateKey.withUnsafeBytes { key in
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[1..<33]).copyMemory(from: key)
            }
            for offset in 0..<4 {
                unsafe buffer[33 + offset] = UInt8(truncatingIfNeeded: hardened >> UInt32(24 - 8 * offset))
            }
        }
        return node(key: parent.chainCode, message: message)
    }

    private static func node(key: SecretBytes, message: SecretBytes) -> ExtendedKey {
        let code = unsafe key.withUnsafeBytes { key in
            unsafe message.withUnsafeBytes { message in
                unsafe HMAC<SHA512>.authenticationCode(for: message, using: SymmetricKey(data: key))
            }
        }
        return unsafe code.withUnsafeBytes { bytes in
            unsafe ExtendedKey(
                privateKey: SecretBytes(copying: bytes.prefix(32)),
                chainCode: SecretBytes(copying: bytes.suffix(32))
            )
        }
    }
}

extension SLIP0010.ExtendedKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `ExtendedKey(redacted)`.
    public var description: String { "ExtendedKey(redacted)" }

    /// Always `ExtendedKey(redacted)`.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
