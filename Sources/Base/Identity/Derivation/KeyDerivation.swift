package import Bytes
internal import Crypto

/// The derivation of every key from a person's root key.
///
/// Network keys follow SLIP-0010 at `m/44'/0'/index'` with the root's 32 bytes as the seed. All others are the output of
/// HKDF-SHA256 over the same bytes with a label per purpose, so that no two purposes share a key, and two keys cannot be
/// linked without the root. A device's wrapping key is derived from its key in the same way.
public enum KeyDerivation {
    /// The largest index that a network can have.
    public static let maximumNetworkIndex = DerivationPath.maximumIndex

    private static let salt = Array("runar/key-derivation/v1".utf8)

    /// Makes a new root key: once per person.
    public static func generateMasterKey() -> Ed25519KeyPair { Ed25519KeyPair() }

    /// Makes a new peer key: once per device, which it never leaves.
    public static func generatePeerKey() -> Ed25519KeyPair { Ed25519KeyPair() }

    /// Derives the key of the network with this index, at most ``maximumNetworkIndex``.
    ///
    /// Its public half is the ``NetworkId``.
    public static func deriveNetworkKey(masterKey: Ed25519PrivateKey, networkIndex: UInt32) -> Ed25519KeyPair {
        do {
            return try SLIP0010.derive(seed: masterKey.secret, path: DerivationPath(network: networkIndex)).keyPair
        } catch {
            preconditionFailure("a root key of 32 bytes was refused as a seed: \(error)")
        }
    }

    /// Derives the key of the network with this index, at most ``maximumNetworkIndex``.
    public static func deriveNetworkKey(masterKey: Ed25519KeyPair, networkIndex: UInt32) -> Ed25519KeyPair {
        deriveNetworkKey(masterKey: masterKey.privateKey, networkIndex: networkIndex)
    }

    /// Derives the key of a persona; keys of different labels cannot be linked.
    ///
    /// The label's bytes count as they are: two spellings of one accented letter make two keys.
    public static func deriveProfileKey(
        masterKey: Ed25519PrivateKey,
        label: String
    ) throws(IdentityError) -> Ed25519KeyPair {
        try NameRule.check(label)
        return keyPair(from: masterKey, purpose: "runar/profile-key/v1", context: Array(label.utf8))
    }

    /// Derives the key of a persona; keys of different labels cannot be linked.
    public static func deriveProfileKey(
        masterKey: Ed25519KeyPair,
        label: String
    ) throws(IdentityError) -> Ed25519KeyPair {
        try deriveProfileKey(masterKey: masterKey.privateKey, label: label)
    }

    /// Derives the administrator key of a network, which differs in each network.
    ///
    /// The public key of the root itself would reveal which networks belong to one person.
    public static func deriveAdminKey(masterKey: Ed25519PrivateKey, networkId: NetworkId) -> Ed25519KeyPair {
        keyPair(from: masterKey, purpose: "runar/admin-key/v1", context: networkId.bytes)
    }

    /// Derives the key that a network shows as its administrator's, another one in each network.
    public static func deriveAdminKey(masterKey: Ed25519KeyPair, networkId: NetworkId) -> Ed25519KeyPair {
        deriveAdminKey(masterKey: masterKey.privateKey, networkId: networkId)
    }

    /// Derives the key that issues certificates to a person's own devices.
    public static func deriveCertificateAuthorityKey(masterKey: Ed25519PrivateKey) -> Ed25519KeyPair {
        keyPair(from: masterKey, purpose: "runar/certificate-authority-key/v1", context: [])
    }

    /// Derives the key that issues certificates to a person's own devices.
    public static func deriveCertificateAuthorityKey(masterKey: Ed25519KeyPair) -> Ed25519KeyPair {
        deriveCertificateAuthorityKey(masterKey: masterKey.privateKey)
    }

    /// Derives from a device's key the one to which secrets for this device are sealed.
    package static func deriveWrappingKey(peerKey: Ed25519PrivateKey) -> SealingKeyPair {
        SealingKeyPair(secret(from: peerKey, purpose: "runar/wrapping-key/v1", context: []))
    }

    /// Derives from a device's key the one to which mail for this device is sealed.
    package static func deriveMailKey(peerKey: Ed25519PrivateKey) -> SealingKeyPair {
        SealingKeyPair(secret(from: peerKey, purpose: "runar/mail-key/v1", context: []))
    }

    /// Derives from a device's key the one under which its one-time keys are encrypted at rest.
    package static func deriveKeyStoreKey(peerKey: Ed25519PrivateKey) -> SecretBytes {
        secret(from: peerKey, purpose: "runar/one-time-keys-at-rest/v1", context: [])
    }

    /// Derives from a person's key the one under which the person's thoughts are encrypted at rest.
    package static func deriveHistoryKey(personKey: Ed25519PrivateKey) -> SecretBytes {
        secret(from: personKey, purpose: "runar/thoughts-at-rest/v1", context: [])
    }

    private static func keyPair(from root: Ed25519PrivateKey, purpose: StaticString, context: [UInt8]) -> Ed25519KeyPair
    {
        Ed25519KeyPair(privateKey: Ed25519PrivateKey(checked: secret(from: root, purpose: purpose, context: context)))
    }

    /// HKDF with the info (length of `purpose` in one byte, `purpose`, `context`).
    private static func secret(from key: Ed25519PrivateKey, purpose: StaticString, context: [UInt8]) -> SecretBytes {
        let info = DomainLabel(purpose).prefix + context
        let derived = unsafe key.secret.withUnsafeBytes { bytes in
            unsafe HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: bytes),
                salt: salt,
                info: info,
                outputByteCount: Ed25519PrivateKey.byteCount
            )
        }
        return unsafe derived.withUnsafeBytes { bytes in unsafe SecretBytes(copying: bytes) }
    }
}

/// Makes a new root key: once per person.
public func generateMasterKey() -> Ed25519KeyPair { KeyDerivation.generateMasterKey() }

/// Makes a new peer key: once per device, which it never leaves.
public func generatePeerKey() -> Ed25519KeyPair { KeyDerivation.generatePeerKey() }

/// Derives the key of the network with this index, at most ``KeyDerivation/maximumNetworkIndex``.
public func deriveNetworkKey(masterKey: Ed25519PrivateKey, networkIndex: UInt32) -> Ed25519KeyPair {
    KeyDerivation.deriveNetworkKey(masterKey: masterKey, networkIndex: networkIndex)
}

/// Derives the key of the network with this index, at most ``KeyDerivation/maximumNetworkIndex``.
public func deriveNetworkKey(masterKey: Ed25519KeyPair, networkIndex: UInt32) -> Ed25519KeyPair {
    KeyDerivation.deriveNetworkKey(masterKey: masterKey, networkIndex: networkIndex)
}
