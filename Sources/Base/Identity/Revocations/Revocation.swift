internal import Bytes
public import Essentials

/// A network's signed statement that a peer is permanently excluded.
///
/// Layout and signed bytes: `docs/spec/identity.md`, section 7.
public struct Revocation: Hashable, Sendable {
    /// The purpose of the signature.
    package static let label = DomainLabel("runar/revocation/v1")
    /// The size of the binary form in bytes.
    package static let byteCount = NetworkId.byteCount + entryByteCount
    /// The bytes of an entry, without the network id that all entries of a set share.
    package static let entryByteCount = PeerId.byteCount + 8 + Ed25519Signature.byteCount

    /// The network that the peer is revoked in.
    public let networkId: NetworkId
    /// The revoked peer.
    public let peerId: PeerId
    /// The time of the revocation in seconds since 1970; it decides nothing.
    public let seconds: UInt64
    package let signatureValue: Ed25519Signature

    package init(
        networkId: NetworkId,
        peerId: PeerId,
        seconds: UInt64,
        signature: Ed25519Signature
    ) throws(IdentityError) {
        guard seconds <= UnixTime.maximum else { throw .expirationOutOfRange }
        self.networkId = networkId
        self.peerId = peerId
        self.seconds = seconds
        signatureValue = signature
    }

    /// Revokes a peer's membership, signed with the network's private key.
    public static func create(
        peerId: PeerId,
        networkId: NetworkId,
        networkPrivateKey: Ed25519PrivateKey,
        at date: Date = Date()
    ) throws(IdentityError) -> Revocation {
        let seconds = try UnixTime.seconds(of: date)
        return try create(peerId: peerId, networkId: networkId, signer: networkPrivateKey, seconds: seconds)
    }

    /// Revokes a peer's membership in the network whose key `signer` signs with.
    package static func create(
        peerId: PeerId,
        networkId: NetworkId,
        signer: some Signer,
        seconds: UInt64
    ) throws(IdentityError) -> Revocation {
        guard signer.publicKey.words == networkId.words else { throw .wrongSigningKey }
        let message = signedBytes(networkId: networkId, peerId: peerId, seconds: seconds)
        return try Revocation(
            networkId: networkId,
            peerId: peerId,
            seconds: seconds,
            signature: Ed25519Signature(of: message, by: signer)
        )
    }

    /// The network key's signature.
    public var signature: Data { Data(signatureValue.bytes) }

    /// Whether the signature is the network's.
    public func verify() -> Bool {
        networkId.isValidSignature(signatureValue.bytes, for: signedBytes)
    }

    /// The bytes that the signature covers.
    package var signedBytes: [UInt8] {
        Self.signedBytes(networkId: networkId, peerId: peerId, seconds: seconds)
    }

    private static func signedBytes(networkId: NetworkId, peerId: PeerId, seconds: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 96)
        writer.write(label.prefix)
        writer.write(networkId.bytes)
        writer.write(peerId.bytes)
        writer.write(seconds)
        return writer.bytes
    }
}

extension Revocation {
    /// Reads the binary form without verifying it; ``verify()`` does.
    package init(binary: some Collection<UInt8>) throws(IdentityError) {
        var reader = FieldReader(binary, of: "a revocation")
        let networkId = try reader.readNetworkId()
        try self.init(entryOf: networkId, from: &reader)
        try reader.finish()
    }

    /// The binary form: network, then the entry.
    package var binary: [UInt8] { networkId.bytes + entryBytes }

    /// Reads an entry: peer, seconds, signature.
    init(entryOf networkId: NetworkId, from reader: inout FieldReader) throws(IdentityError) {
        let peerId = try reader.readPeerId()
        let seconds = try reader.readUInt64()
        let signature = try reader.readSignature()
        try self.init(networkId: networkId, peerId: peerId, seconds: seconds, signature: signature)
    }

    /// The entry: peer, seconds, signature.
    var entryBytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.entryByteCount)
        writer.write(peerId.bytes)
        writer.write(seconds)
        writer.write(signatureValue.bytes)
        return writer.bytes
    }
}

extension Revocation: Comparable {
    /// Orders by peer, then by time, then by signature.
    ///
    /// The smaller of two entries for one peer is kept, so that sets become equal in whatever order they are merged.
    public static func < (left: Revocation, right: Revocation) -> Bool {
        if left.peerId != right.peerId { return left.peerId < right.peerId }
        if left.seconds != right.seconds { return left.seconds < right.seconds }
        if left.signatureValue != right.signatureValue { return left.signatureValue < right.signatureValue }
        return left.networkId < right.networkId
    }
}
