internal import Bytes

/// A network's private key, sealed to the one device that will also sign for the network.
///
/// The root key never leaves a device in this way: a network's key can sign for that network and nothing else. Layout:
/// `docs/spec/devices.md`, section 2.
package struct NetworkKeyMessage: Hashable, Sendable {
    /// The size of a message in bytes.
    package static let byteCount = 1 + NetworkId.byteCount + PeerId.byteCount + sealedByteCount
    private static let sealedByteCount = Ed25519PrivateKey.byteCount + SealingKey.overheadByteCount
    private static let version: UInt8 = 1
    private static let subject = "a network key"
    private static let label = DomainLabel("runar/network-key/v1")

    /// The network.
    package let networkId: NetworkId
    /// The device that can open it.
    package let peerId: PeerId
    private let sealed: [UInt8]

    /// Seals the key of a network to the device that made `request`.
    package init(sealing key: Ed25519PrivateKey, to request: DeviceRequest) throws(IdentityError) {
        networkId = NetworkId(publicKey: key.publicKey)
        peerId = request.peerId
        let info = Self.info(networkId, peerId)
        guard let sealed = key.secret.withBytes({ request.wrappingKey.seal($0, info: info) }) else {
            throw .signingFailed
        }
        self.sealed = sealed
    }

    /// Reads a message without verifying it; only its device can.
    package init(binary: some Collection<UInt8>) throws(IdentityError) {
        var reader = FieldReader(binary, of: Self.subject)
        try reader.expectVersion(Self.version)
        networkId = try reader.readNetworkId()
        peerId = try reader.readPeerId()
        sealed = try reader.readBytes(count: Self.sealedByteCount)
        try reader.finish()
    }

    /// The binary form: version, network, device, encapsulated key, sealed key.
    package var binary: [UInt8] { [Self.version] + networkId.bytes + peerId.bytes + sealed }

    /// Opens it with the key of the device that it is for.
    ///
    /// - Throws: ``IdentityError/malformed(of:reason:)`` when it is for another device, was changed, or holds another
    ///   network's key.
    package func open(with peerKey: Ed25519PrivateKey) throws(IdentityError) -> Ed25519PrivateKey {
        guard PeerId(publicKey: peerKey.publicKey) == peerId else {
            throw .malformed(of: Self.subject, reason: "it is sealed to another device")
        }
        let wrapping = KeyDerivation.deriveWrappingKey(peerKey: peerKey)
        guard var opened = wrapping.open(sealed, info: Self.info(networkId, peerId)) else {
            throw .malformed(of: Self.subject, reason: "it was changed after it was sealed to this device")
        }
        let key = try Ed25519PrivateKey(SecretBytes(consuming: &opened))
        guard NetworkId(publicKey: key.publicKey) == networkId else {
            throw .malformed(of: Self.subject, reason: "it holds the key of another network than it says")
        }
        return key
    }

    private static func info(_ network: NetworkId, _ peer: PeerId) -> [UInt8] {
        label.message(network.bytes, peer.bytes)
    }
}
