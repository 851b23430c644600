package import Bytes
internal import Crypto

/// 32 bytes that only the members of a network know, signed by the network's key.
///
/// They key formats that only members may recognise, such as beacons, and grant no admission. The owner's node creates a new
/// one at each revocation; ``MemberSecrets`` decides which of several is in use. Layout: `docs/spec/identity.md`, section 9.
package struct MemberSecret: Sendable {
    /// The size of the binary form in bytes.
    package static let byteCount = 137
    /// The number of secret bytes.
    package static let secretByteCount = 32
    /// The purpose of the signature.
    package static let label = DomainLabel("runar/member-secret/v1")
    private static let version: UInt8 = 1
    private static let salt = Array("runar/member-secret-keys/v1".utf8)
    private static let rendezvousLabel = DomainLabel("runar/rendezvous-key/v1")

    /// The network whose members know it.
    package let networkId: NetworkId
    /// The time at which it was made, in seconds since 1970; the newest one is in use.
    package let epoch: UInt64
    /// The 32 bytes.
    package let secret: SecretBytes
    package let signatureValue: Ed25519Signature

    /// Creates a member secret without verifying its signature; ``verify()`` does.
    package init(
        networkId: NetworkId,
        epoch: UInt64,
        secret: SecretBytes,
        signature: Ed25519Signature
    ) throws(IdentityError) {
        guard epoch <= UnixTime.maximum else { throw .expirationOutOfRange }
        guard secret.count == Self.secretByteCount else {
            throw .wrongLength(of: "a member secret", expected: Self.secretByteCount, found: secret.count)
        }
        self.networkId = networkId
        self.epoch = epoch
        self.secret = secret
        signatureValue = signature
    }

    /// Makes a new secret for the network whose key `signer` signs with.
    package static func create(
        networkId: NetworkId,
        signer: some Signer,
        epoch: UInt64
    ) throws(IdentityError) -> MemberSecret {
        var random = SystemRandomNumberGenerator()
        return try create(networkId: networkId, signer: signer, epoch: epoch, generating: &random)
    }

    /// Makes a new secret from `random`, which must be fit for keys outside tests.
    package static func create(
        networkId: NetworkId,
        signer: some Signer,
        epoch: UInt64,
        generating random: inout some RandomNumberGenerator
    ) throws(IdentityError) -> MemberSecret {
        guard signer.publicKey.words == networkId.words else { throw .wrongSigningKey }
        var bytes = (0..<secretByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let secret = SecretBytes(consuming: &bytes)
        var message = signedBytes(networkId: networkId, epoch: epoch, secret: secret)
        defer { message.wipe() }
        let signature = try Ed25519Signature(of: message, by: signer)
        return try MemberSecret(networkId: networkId, epoch: epoch, secret: secret, signature: signature)
    }

    /// Whether the signature is the network's.
    package func verify() -> Bool {
        var message = Self.signedBytes(networkId: networkId, epoch: epoch, secret: secret)
        defer { message.wipe() }
        return networkId.isValidSignature(signatureValue.bytes, for: message)
    }

    private static func signedBytes(networkId: NetworkId, epoch: UInt64, secret: SecretBytes) -> [UInt8] {
        var writer = ByteWriter(capacity: 96)
        writer.write(label.prefix)
        writer.write(networkId.bytes)
        writer.write(epoch)
        secret.withBytes { writer.write($0) }
        return writer.bytes
    }
}

extension MemberSecret {
    /// Reads the binary form without verifying it; ``verify()`` does.
    package init(binary: some Collection<UInt8>) throws(IdentityError) {
        var reader = FieldReader(binary, of: "a member secret")
        try reader.expectVersion(Self.version)
        let networkId = try reader.readNetworkId()
        let epoch = try reader.readUInt64()
        var bytes = try reader.readBytes(count: Self.secretByteCount)
        let secret = SecretBytes(consuming: &bytes)
        let signature = try reader.readSignature()
        try reader.finish()
        try self.init(networkId: networkId, epoch: epoch, secret: secret, signature: signature)
    }

    /// The 137 bytes: version, network, epoch, secret, signature; the copy is the caller's to wipe.
    package var binary: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.write(Self.version)
        writer.write(networkId.bytes)
        writer.write(epoch)
        secret.withBytes { writer.write($0) }
        writer.write(signatureValue.bytes)
        return writer.bytes
    }
}

extension MemberSecret {
    /// Derives 32 bytes for one purpose: HKDF-SHA256 with the info (label, network).
    package func key(for purpose: DomainLabel) -> SecretBytes {
        let derived = unsafe secret.withUnsafeBytes { bytes in
            unsafe HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: bytes),
                salt: Self.salt,
                info: purpose.message(networkId.bytes),
                outputByteCount: 32
            )
        }
        return unsafe derived.withUnsafeBytes { bytes in unsafe SecretBytes(copying: bytes) }
    }

    /// The key pair to which a device writes that has a token but not yet this secret.
    package var rendezvous: RendezvousKeyPair {
        RendezvousKeyPair(key(for: Self.rendezvousLabel))
    }
}

extension MemberSecret: Hashable {
    /// Whether both are the same; the secrets are compared in constant time.
    package static func == (left: MemberSecret, right: MemberSecret) -> Bool {
        left.networkId == right.networkId && left.epoch == right.epoch
            && left.signatureValue == right.signatureValue && left.secret == right.secret
    }

    /// Feeds everything but the secret.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(networkId)
        hasher.combine(epoch)
        hasher.combine(signatureValue)
    }
}

extension MemberSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows everything but the secret.
    package var description: String {
        "MemberSecret(network: \(networkId.short), epoch: \(epoch), secret: redacted)"
    }

    /// Shows everything but the secret.
    package var debugDescription: String { description }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
