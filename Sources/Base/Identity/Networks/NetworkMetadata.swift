internal import Bytes

/// A network's statement about itself, signed by its own key: its name and its administrator's public key.
///
/// The version grows with each renaming; of two that verify, the higher one counts. Layout and signed bytes:
/// `docs/spec/identity.md`, section 6.
public struct NetworkMetadata: Sendable {
    /// The purpose of the signature.
    package static let label = DomainLabel("runar/network-metadata/v1")
    private static let formatVersion: UInt8 = 1
    private static let nameLengthOffset = 1 + 32 + 4 + 32
    /// The most bytes that the binary form has.
    package static let maximumByteCount = 1 + 32 + 4 + 32 + 1 + NameRule.maximumByteCount + 64

    /// The network's id.
    public let networkId: NetworkId
    /// The owner's name for it.
    public let name: String
    /// The administrator that the owner names; it does not reveal whether the root key is the same.
    public let adminPublicKey: Ed25519PublicKey
    /// 1 at first, one more with each change.
    public let version: UInt32
    /// The key under which members listen for a peer that has only a token; an unsigned hint in the text.
    public private(set) var rendezvous: RendezvousKey?
    package private(set) var signatureValue: Ed25519Signature?

    /// Describes a network; unsigned until ``sign(with:)``.
    public init(
        networkId: NetworkId,
        name: String,
        adminPublicKey: Ed25519PublicKey,
        version: UInt32 = 1
    ) {
        self.init(networkId: networkId, name: name, adminPublicKey: adminPublicKey, version: version, signature: nil)
    }

    package init(
        networkId: NetworkId,
        name: String,
        adminPublicKey: Ed25519PublicKey,
        version: UInt32,
        signature: Ed25519Signature?
    ) {
        self.networkId = networkId
        self.name = name
        self.adminPublicKey = adminPublicKey
        self.version = version
        signatureValue = signature
    }

    /// Signs with the network's private key; no other key can speak for a network.
    ///
    /// Refuses a name that is not 1 to 64 bytes of UTF-8 that show as they are.
    public mutating func sign(with networkPrivateKey: Ed25519PrivateKey) throws(IdentityError) {
        try sign(with: networkPrivateKey as any Signer)
    }

    package mutating func sign(with signer: any Signer) throws(IdentityError) {
        guard signer.publicKey.words == networkId.words else { throw .wrongSigningKey }
        try check()
        signatureValue = try Ed25519Signature(of: signedBytes, by: signer)
    }

    /// The next version under another name, signed.
    public func renamed(
        to name: String,
        signedWith networkPrivateKey: Ed25519PrivateKey
    ) throws(IdentityError) -> NetworkMetadata {
        guard version < .max else {
            throw .malformed(of: "network metadata", reason: "it has been changed too often to be changed again")
        }
        var next = NetworkMetadata(
            networkId: networkId,
            name: name,
            adminPublicKey: adminPublicKey,
            version: version + 1
        ).with(rendezvous: rendezvous)
        try next.sign(with: networkPrivateKey)
        return next
    }

    /// Returns this metadata with `rendezvous` in its text.
    public func with(rendezvous: RendezvousKey?) -> NetworkMetadata {
        var copy = self
        copy.rendezvous = rendezvous
        return copy
    }

    /// Whether the name may be one, and the network's own key signed exactly this.
    public func verify() -> Bool {
        guard let signatureValue, (try? check()) != nil else { return false }  // the reason does not matter here
        return networkId.isValidSignature(signatureValue.bytes, for: signedBytes)
    }

    /// Refuses values that must not be signed and are not accepted when read.
    func check() throws(IdentityError) {
        try NameRule.check(name)
        guard version >= 1 else { throw .malformed(of: "network metadata", reason: "versions count from 1") }
    }

    /// The bytes that the signature covers.
    package var signedBytes: [UInt8] { Self.label.prefix + fields }

    /// Network, version, administrator, length of the name, name.
    private var fields: [UInt8] {
        var writer = ByteWriter(capacity: 133)
        writer.write(networkId.bytes)
        writer.write(version)
        writer.write(adminPublicKey.bytes)
        writer.write(UInt8(truncatingIfNeeded: name.utf8.count))
        writer.write(utf8: name)
        return writer.bytes
    }
}

extension NetworkMetadata: Hashable {
    /// Compares the signed fields and the signature; the unsigned hint is ignored.
    public static func == (left: NetworkMetadata, right: NetworkMetadata) -> Bool {
        left.fields == right.fields && left.signatureValue == right.signatureValue
    }

    /// Hashes the fields that are compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fields)
        hasher.combine(signatureValue)
    }
}

extension NetworkMetadata {
    /// Reads the binary form without verifying it; ``verify()`` does.
    package init(binary: some Collection<UInt8>) throws(IdentityError) {
        var reader = FieldReader(binary, of: "network metadata")
        try reader.expectVersion(Self.formatVersion)
        let networkId = try reader.readNetworkId()
        let version = try reader.readUInt32()
        let adminPublicKey = try reader.readPublicKey()
        let name = try reader.readBytes(count: Int(reader.readUInt8()))
        let signature = try reader.readSignature()
        try reader.finish()
        let text = String(decoding: name, as: UTF8.self)
        guard text.utf8.elementsEqual(name) else { throw .invalidName(reason: "it is not UTF-8") }
        self.init(
            networkId: networkId,
            name: text,
            adminPublicKey: adminPublicKey,
            version: version,
            signature: signature
        )
        try check()
    }

    /// Returns the number of these bytes that belong to the binary form at their beginning.
    static func byteCount(ofBinary bytes: [UInt8]) -> Int {
        guard bytes.count > nameLengthOffset else { return bytes.count }
        return nameLengthOffset + 1 + Int(bytes[nameLengthOffset]) + Ed25519Signature.byteCount
    }

    /// The binary form: format, network, version, administrator, name, signature; refused before it is signed.
    package func binary() throws(IdentityError) -> [UInt8] {
        guard let signatureValue else { throw .invalidSignature(of: "network metadata") }
        try check()
        return [Self.formatVersion] + fields + signatureValue.bytes
    }
}
