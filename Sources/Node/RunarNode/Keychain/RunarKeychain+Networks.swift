internal import Bytes
internal import Concurrency
public import Essentials
internal import Identity
internal import Platform

// The keys that sign for networks.
extension RunarKeychain {
    /// Derives the key of the next network of the root key, and returns the network's id.
    ///
    /// The index is reserved before the key is returned, so that no index is ever used twice.
    ///
    /// - Throws: ``RunarKeychainError/noRootKey``, ``RunarKeychainError/networkIndexUnknown`` for a root key that was
    ///   brought here (of a node: ``NodeError/networkIndexNeeded(next:)``), ``KeychainError``.
    @discardableResult
    public func generateNetworkKey() async throws -> String {
        let root = try rootKey()
        let index = try owner?.reserveIndex(root) ?? reserveIndex(of: root.publicKey)
        let key = deriveNetworkKey(masterKey: root, networkIndex: index)
        let networkId = NetworkId(publicKey: key.publicKey)
        try store(key.privateKey.secret, id: Self.networkKeyId(networkId))
        try owner?.added(networkId, index)
        return networkId.base64Encoded
    }

    /// Takes the key of a network that another device sealed to this one with ``wrapNetworkKey(_:for:)``.
    ///
    /// - Throws: ``RunarKeychainError/notForThisDevice``; ``IdentityError`` when the message was changed or its network id
    ///   does not belong to the key; ``KeychainError``.
    public func installNetworkKey(_ networkKeyMessage: Data) async throws {
        try install(NetworkKeyMessage(binary: networkKeyMessage))
    }

    /// The public key of a network that this device can sign for, or nil; both text forms of the id are accepted.
    ///
    /// - Throws: ``IdentityError`` when it is no network's id, ``KeychainError``.
    public func getNetworkPublicKey(_ networkId: String) async throws -> String? {
        try networkKey(of: NetworkId(text: networkId))?.publicKey.base64Encoded
    }

    /// Seals the key of a network to the device that made `request` with ``createDeviceRequest()``.
    ///
    /// The device that opens it can sign tokens, revocations and names of this network from then on, and cannot be kept
    /// from it again. It gets no other network's key and never the root key.
    ///
    /// The request's signature proves that the device has the private key for it.
    ///
    /// - Throws: ``RunarKeychainError/noNetworkKey(_:)``, ``IdentityError``, ``KeychainError``.
    public func wrapNetworkKey(_ networkId: String, for request: Data) async throws -> Data {
        let network = try NetworkId(text: networkId)
        guard let key = try networkKey(of: network) else { throw RunarKeychainError.noNetworkKey(network) }
        return Data(try NetworkKeyMessage(sealing: key.privateKey, to: DeviceRequest(binary: request)).binary)
    }
}

extension RunarKeychain {
    private static let networkKeyPrefix = "network/"
    /// The lock that makes reading and raising the counter one step for all keychains of this process.
    private static let counting = Locked(())
    private static let indexId = "network-index"
    private static let indexVersion: UInt8 = 1

    static func networkKeyId(_ network: NetworkId) -> String { networkKeyPrefix + network.text }

    /// Whether an id is that of a key that is the person's: guarded by a finger or face if the person chose so.
    static func isPersonal(_ id: String) -> Bool {
        id == KeyId.root.rawValue || id.hasPrefix(networkKeyPrefix) || id.hasPrefix(profileKeyPrefix)
    }

    func install(_ message: NetworkKeyMessage) throws {
        let peer = try peerKey()
        guard message.peerId == PeerId(publicKey: peer.publicKey) else { throw RunarKeychainError.notForThisDevice }
        try store(message.open(with: peer.privateKey).secret, id: Self.networkKeyId(message.networkId))
        try owner?.added(message.networkId, nil)
    }

    /// The key of a network if this device has it, by itself or by its root key.
    func networkKey(of network: NetworkId) throws -> Ed25519KeyPair? {
        if let key = try keyPair(id: Self.networkKeyId(network)) { return key }
        guard let root = try keyPair(id: KeyId.root.rawValue) else { return nil }
        let indices = try owner?.indices() ?? Array(0..<(nextIndex(of: root.publicKey) ?? 0))
        for index in indices {
            let key = deriveNetworkKey(masterKey: root, networkIndex: index)
            if key.publicKey == network.publicKey { return key }
        }
        return nil
    }

    /// The lowest index that no network of this root key has; nil if that is not known in this storage.
    func nextIndex(of root: Ed25519PublicKey) throws -> UInt32? {
        guard let stored = try keys.retrieve(id: Self.indexId) else { return nil }
        return try stored.withBytes { bytes -> UInt32? in
            var reader = ByteReader(bytes)
            do {
                guard try reader.readUInt8() == Self.indexVersion,
                    try reader.readBytes(count: Ed25519PublicKey.byteCount) == root.fingerprint.bytes
                else { return nil }
                let next = try reader.readUInt32()
                try reader.finish()
                return next
            } catch {
                throw KeychainError.unableToRead("the counter of networks is damaged: restore a backup of the vault")
            }
        }
    }

    /// Stores the lowest index that no network of this root key has.
    func setNextIndex(_ next: UInt32, of root: Ed25519PublicKey) throws {
        var writer = ByteWriter()
        writer.write(Self.indexVersion)
        writer.write(root.fingerprint.bytes)
        writer.write(next)
        try storePublic(writer.bytes, id: Self.indexId)
    }

    /// Runs `body` while no other thread of this process makes or replaces a root key or counts its networks.
    package static func whileCounting<Result>(_ body: () throws -> Result) rethrows -> Result {
        try counting.withLock { _ in try body() }
    }

    private func reserveIndex(of root: Ed25519PublicKey) throws -> UInt32 {
        try Self.whileCounting {
            guard let next = try nextIndex(of: root), next <= KeyDerivation.maximumNetworkIndex else {
                throw RunarKeychainError.networkIndexUnknown
            }
            try setNextIndex(next + 1, of: root)
            return next
        }
    }
}
