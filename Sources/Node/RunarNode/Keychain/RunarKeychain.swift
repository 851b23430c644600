internal import Bytes
internal import Concurrency
internal import Crypto
public import Identity
public import Platform

/// A person's and a device's keys in one ``KeyStorage``: the root key and the keys derived from it, the keys of networks
/// that this device signs for, and the certificate by which a person's devices recognise each other.
///
/// Private keys stay in the storage: calls return public keys (padded base64, as in every JSON text) and sealed or signed
/// messages. A running node has its own, ``RunarNode/keychain``; use that one instead of a second instance.
public final class RunarKeychain: Sendable {
    /// The functions of a node: reserve an index, note another network that it owns, and list the indices in use.
    struct Owner: Sendable {
        var reserveIndex: @Sendable (Ed25519KeyPair) throws -> UInt32
        var added: @Sendable (NetworkId, UInt32?) throws -> Void
        var indices: @Sendable () throws -> [UInt32]
    }

    let keys: any KeyStorage
    let guarding: AccessControl
    let owner: Owner?
    /// Held open as long as this lives.
    private let stores: NodeStores?
    /// Seconds since 1970.
    let now: @Sendable () -> UInt64

    /// Uses the keys in `keyStorage`; `accessControl` applies to new keys of the person.
    public convenience init(keyStorage: any KeyStorage, accessControl: AccessControl = AccessControl()) {
        let clocks = Clocks.system()
        self.init(keyStorage, accessControl, owner: nil) { clocks.wallSeconds() }
    }

    /// Opens the keys of a service, and makes their place the first time.
    ///
    /// If that place has a directory, it is locked for exclusive use meanwhile: next to a node of the service use
    /// ``RunarNode/keychain``.
    ///
    /// - Throws: ``RunarError`` when the place cannot be used or is in use; ``KeychainError``, `unsupported` if biometrics
    ///   are required and the storage does not enforce them.
    public convenience init(config: RunarKeychainConfig) throws {
        let stores: NodeStores
        do {
            stores = try NodeStores.ofService(config, statePath: nil)
        } catch let error as DataDirectoryError {
            throw RunarError(error)
        }
        let guarding = KeyGuarding(config)
        try guarding.check(stores.keys)
        let clocks = Clocks.system()
        self.init(GuardedKeys(stores.keys, guarding), guarding.accessControl, owner: nil, stores: stores) {
            clocks.wallSeconds()
        }
    }

    init(
        _ keys: any KeyStorage,
        _ guarding: AccessControl,
        owner: Owner?,
        stores: NodeStores? = nil,
        now: @escaping @Sendable () -> UInt64
    ) {
        self.keys = keys
        self.stores = stores
        self.guarding = guarding
        self.owner = owner
        self.now = now
    }
}

// MARK: - The person

extension RunarKeychain {
    /// Makes the person's root key and returns its public half; back it up then.
    ///
    /// - Throws: ``RunarKeychainError/rootKeyExists``, ``KeychainError``.
    @discardableResult
    public func initializeUserRootKey() async throws -> String {
        try Self.whileCounting {
            guard try !keys.exists(id: KeyId.root.rawValue) else { throw RunarKeychainError.rootKeyExists }
            return try makeRootKey().publicKey.base64Encoded
        }
    }

    /// The public half of the root key.
    ///
    /// No message contains it, because it would link the networks of one person: keep it on this device.
    ///
    /// - Throws: ``RunarKeychainError/noRootKey``, ``KeychainError``.
    public func getUserRootPublicKey() async throws -> String {
        try rootKey().publicKey.base64Encoded
    }

    /// Makes the key of a persona from the root key, and returns its public half; the same one each time.
    ///
    /// `profileId` is 1 to 64 bytes of text; only the root key reveals that two personas are one person.
    ///
    /// - Throws: ``RunarKeychainError/noRootKey``, ``IdentityError/invalidName(reason:)``, ``KeychainError``.
    @discardableResult
    public func deriveProfileKey(_ profileId: String) async throws -> String {
        let key = try KeyDerivation.deriveProfileKey(masterKey: rootKey(), label: profileId)
        try store(key.privateKey.secret, id: Self.profileKeyId(profileId))
        return key.publicKey.base64Encoded
    }

    /// The public half of a persona's key, or nil if it was not derived on this device.
    ///
    /// - Throws: ``IdentityError/invalidName(reason:)``, ``KeychainError``.
    public func getProfilePublicKey(_ profileId: String) async throws -> String? {
        try await profileKey(profileId)?.publicKey.base64Encoded
    }

    /// A persona's key, to sign with, or nil if it was not derived on this device.
    ///
    /// - Throws: ``IdentityError/invalidName(reason:)``, ``KeychainError``.
    public func profileKey(_ profileId: String) async throws -> Ed25519KeyPair? {
        try NameRule.check(profileId)
        return try keyPair(id: Self.profileKeyId(profileId))
    }
}

// MARK: - Shared parts

extension RunarKeychain {
    /// The root key.
    func rootKey() throws -> Ed25519KeyPair {
        guard let key = try keyPair(id: KeyId.root.rawValue) else { throw RunarKeychainError.noRootKey }
        return key
    }

    /// Makes and stores the root key; its networks are counted from the first one on.
    func makeRootKey() throws -> Ed25519KeyPair {
        let made = generateMasterKey()
        try setNextIndex(0, of: made.publicKey)
        try store(made.privateKey.secret, id: KeyId.root.rawValue)
        return made
    }

    /// This device's key, made if there is none yet.
    func peerKey() throws -> Ed25519KeyPair { try KeyId.peer.key(in: keys, orMake: generatePeerKey) }

    /// Stores a key of the person, guarded as the person chose.
    func store(_ key: SecretBytes, id: String) throws {
        var accessControl = guarding
        accessControl.requireBiometric = try accessControl.requireBiometric || wantsBiometrics()
        try keys.store(key, id: id, accessControl: accessControl)
    }

    /// Stores public data, readable without a prompt whatever guard the configuration puts before keys.
    func storePublic(_ bytes: [UInt8], id: String) throws {
        let accessControl = AccessControl(accessibleWhen: .afterFirstUnlockThisDeviceOnly)
        try keys.store(SecretBytes(copying: bytes), id: id, accessControl: accessControl)
    }

    func keyPair(id: String) throws -> Ed25519KeyPair? {
        try keys.retrieve(id: id).map { Ed25519KeyPair(privateKey: try Ed25519PrivateKey($0)) }
    }

    /// Returns the id of a persona's key in the storage: ids are ASCII, labels are not.
    private static func profileKeyId(_ label: String) -> String {
        profileKeyPrefix + Base32.encode(Array(SHA256.hash(data: Array(label.utf8))))
    }

    static let profileKeyPrefix = "profile/"
}
