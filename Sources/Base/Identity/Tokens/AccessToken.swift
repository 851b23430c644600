internal import Bytes
public import Essentials

/// A network's signed statement that a peer is a member, permanently or until a second.
///
/// A token is not secret and proves nothing about the peer that shows it: accept one only after a proof of the peer's key.
/// Layout and signed bytes: `docs/spec/identity.md`, section 5.
public struct AccessToken: Sendable {
    /// The size of the binary form in bytes.
    public static let byteCount = 137
    /// The purpose of the signature.
    package static let label = DomainLabel("runar/access-token/v1")
    private static let version: UInt8 = 1
    private static let never = UInt64.max

    /// The member.
    public let peerId: PeerId
    /// The network that it is a member of.
    public let networkId: NetworkId
    /// The last second of the membership since 1970; nil means without end.
    public let expirationSeconds: UInt64?
    /// The key under which members listen for a peer that has only this token; an unsigned hint in its text.
    public private(set) var rendezvous: RendezvousKey?
    package let signatureValue: Ed25519Signature

    /// The end of the membership, in whole seconds; nil means without end.
    public var expiration: Date? { expirationSeconds.map(UnixTime.date) }

    /// The network key's signature.
    public var signature: Data { Data(signatureValue.bytes) }

    /// Creates a token without verifying its signature; ``verifySignature()`` does.
    package init(
        peerId: PeerId,
        networkId: NetworkId,
        expirationSeconds: UInt64?,
        signature: Ed25519Signature
    ) throws(IdentityError) {
        guard (expirationSeconds ?? 0) <= UnixTime.maximum else { throw .expirationOutOfRange }
        self.peerId = peerId
        self.networkId = networkId
        self.expirationSeconds = expirationSeconds
        signatureValue = signature
    }

    /// Admits a peer to a network, signed with that network's private key.
    ///
    /// A fraction of a second in `expiration` is cut off.
    public static func create(
        peerId: PeerId,
        networkId: NetworkId,
        networkPrivateKey: Ed25519PrivateKey,
        expiration: Date? = nil
    ) throws(IdentityError) -> AccessToken {
        var seconds: UInt64?
        if let expiration { seconds = try UnixTime.seconds(of: expiration) }
        return try create(
            peerId: peerId,
            networkId: networkId,
            signer: networkPrivateKey,
            expirationSeconds: seconds
        )
    }

    /// Admits a peer to the network whose key `signer` signs with.
    package static func create(
        peerId: PeerId,
        networkId: NetworkId,
        signer: some Signer,
        expirationSeconds: UInt64?
    ) throws(IdentityError) -> AccessToken {
        guard signer.publicKey.words == networkId.words else { throw .wrongSigningKey }
        let message = signedBytes(peerId: peerId, networkId: networkId, expirationSeconds: expirationSeconds)
        return try AccessToken(
            peerId: peerId,
            networkId: networkId,
            expirationSeconds: expirationSeconds,
            signature: Ed25519Signature(of: message, by: signer)
        )
    }

    /// Whether the signature is the network's and the token has not expired (with 60 seconds of grace for clocks).
    ///
    /// A token cannot know whether it has been revoked, or is shown by another peer than it names.
    public func verify(at now: Date = Date()) -> Bool {
        !isExpired(at: UnixTime.clampedSeconds(of: now)) && verifySignature()
    }

    /// Whether the signature is the network's, regardless of the time.
    public func verifySignature() -> Bool {
        networkId.isValidSignature(signatureValue.bytes, for: signedBytes)
    }

    /// Whether the token no longer counts at `nowSeconds`, 60 seconds after its expiry.
    package func isExpired(at nowSeconds: UInt64) -> Bool {
        expirationSeconds.map { UnixTime.isPast($0, at: nowSeconds) } ?? false
    }

    /// Returns this token with `rendezvous` in its text.
    public func with(rendezvous: RendezvousKey?) -> AccessToken {
        var copy = self
        copy.rendezvous = rendezvous
        return copy
    }

    /// The bytes that the signature covers.
    package var signedBytes: [UInt8] {
        Self.signedBytes(peerId: peerId, networkId: networkId, expirationSeconds: expirationSeconds)
    }

    private static func signedBytes(peerId: PeerId, networkId: NetworkId, expirationSeconds: UInt64?) -> [UInt8] {
        var writer = ByteWriter(capacity: 96)
        writer.write(label.prefix)
        writer.write(peerId.bytes)
        writer.write(networkId.bytes)
        writer.write(expirationSeconds ?? never)
        return writer.bytes
    }
}

extension AccessToken: Hashable {
    /// Compares the signed fields and the signature; the unsigned hint is ignored.
    public static func == (left: AccessToken, right: AccessToken) -> Bool {
        left.peerId == right.peerId && left.networkId == right.networkId
            && left.expirationSeconds == right.expirationSeconds && left.signatureValue == right.signatureValue
    }

    /// Hashes the fields that are compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(peerId)
        hasher.combine(networkId)
        hasher.combine(expirationSeconds)
        hasher.combine(signatureValue)
    }
}

extension AccessToken {
    /// Reads the binary form, of which there is exactly one for each token.
    package init(binary: some Collection<UInt8>) throws(IdentityError) {
        guard binary.count == Self.byteCount else {
            throw .wrongLength(of: "an access token", expected: Self.byteCount, found: binary.count)
        }
        var reader = FieldReader(binary, of: "an access token")
        try reader.expectVersion(Self.version)
        let peerId = try reader.readPeerId()
        let networkId = try reader.readNetworkId()
        let expiration = try reader.readUInt64()
        let signature = try reader.readSignature()
        try reader.finish()
        try self.init(
            peerId: peerId,
            networkId: networkId,
            expirationSeconds: expiration == Self.never ? nil : expiration,
            signature: signature
        )
    }

    /// The 137 bytes: version, peer, network, expiry, signature.
    package var binary: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.write(Self.version)
        writer.write(peerId.bytes)
        writer.write(networkId.bytes)
        writer.write(expirationSeconds ?? Self.never)
        writer.write(signatureValue.bytes)
        return writer.bytes
    }

    /// Reads the binary form.
    public init(serializedBytes: some Collection<UInt8>) throws(IdentityError) {
        try self.init(binary: serializedBytes)
    }

    /// The binary form, 137 bytes.
    public func serialize() -> Data { Data(binary) }
}
