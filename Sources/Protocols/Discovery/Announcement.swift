internal import Bytes
internal import Identity

/// A node's signed announcement to the members of one network: its identity, its addresses and its membership.
///
/// Beacons and rendezvous probes carry it, sealed in different ways. The peer key signs all of it for one network and
/// one of the two, so that no part can be copied into another. Layout: `docs/spec/discovery.md`, section 3.
struct Announcement: Equatable, Sendable {
    /// The datagram that carries the announcement; the signature is bound to it.
    enum Carrier: CaseIterable, Sendable {
        case beacon
        case rendezvousProbe

        var label: DomainLabel {
            switch self {
            case .beacon: DomainLabel("runar/beacon-signature/v1")
            case .rendezvousProbe: DomainLabel("runar/knock-signature/v1")
            }
        }
    }

    /// Why bytes are no announcement.
    enum Problem: Error, Equatable {
        case unknownVersion(UInt8)
        case malformed
    }

    /// The length of every announcement; zeros pad it, so that the length reveals nothing.
    static let byteCount = 384
    /// The most addresses in one announcement: eight of IPv6 fit.
    static let maximumAddressCount = 8
    private static let version: UInt8 = 1
    private static let goodbyeFlag: UInt8 = 1
    /// The bytes of a token that the announcement does not contain otherwise: expiry and signature.
    private static let tokenFields = 65..<AccessToken.byteCount

    /// The signer's public key, whose SHA-256 is the sender's id.
    let publicKey: Ed25519PublicKey
    let peerId: PeerId
    /// The sender's process start.
    let instance: InstanceId
    /// Grows with each announcement of one start in one network, from 1.
    let counter: UInt64
    /// The sender's clock, in seconds since 1970.
    let wallSeconds: UInt64
    /// Whether the sender leaves.
    let isGoodbye: Bool
    /// The sender's membership.
    let token: AccessToken
    /// The addresses to dial, without scopes; an unspecified IP means the source of the datagram.
    let addresses: [SocketAddress]
    let signature: Ed25519Signature
    /// The signed bytes, without label and network.
    private let body: [UInt8]

    /// Creates and signs an announcement of this device.
    init(
        by signer: any Signer,
        token: AccessToken,
        instance: InstanceId,
        counter: UInt64,
        wallSeconds: UInt64,
        isGoodbye: Bool,
        addresses: [SocketAddress],
        for carrier: Carrier
    ) throws(IdentityError) {
        let addresses = Array(addresses.prefix(Self.maximumAddressCount))
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.write(Self.version)
        writer.write(isGoodbye ? Self.goodbyeFlag : 0)
        writer.write(signer.publicKey.bytes)
        writer.write(instance.bytes)
        writer.write(counter)
        writer.write(wallSeconds)
        writer.write(token.binary[Self.tokenFields])
        writer.write(UInt8(addresses.count))
        for address in addresses { address.write(to: &writer) }
        publicKey = signer.publicKey
        peerId = PeerId(publicKey: signer.publicKey)
        self.instance = instance
        self.counter = counter
        self.wallSeconds = wallSeconds
        self.isGoodbye = isGoodbye
        self.token = token
        self.addresses = addresses
        body = writer.bytes
        signature = try Ed25519Signature(
            of: Self.signedBytes(body: body, network: token.networkId, carrier: carrier),
            by: signer
        )
    }

    /// Reads an announcement to the members of `network`; its signatures are not verified.
    init(_ bytes: [UInt8], of network: NetworkId) throws(Problem) {
        guard bytes.count == Self.byteCount else { throw .malformed }
        guard bytes[0] == Self.version else { throw .unknownVersion(bytes[0]) }
        do {
            try self.init(reading: bytes, of: network)
        } catch {
            throw .malformed
        }
    }

    private init(reading bytes: [UInt8], of network: NetworkId) throws {
        var reader = ByteReader(bytes)
        _ = try reader.readUInt8()
        let flags = try reader.readUInt8()
        guard flags & ~Self.goodbyeFlag == 0 else { throw BytesError.invalidValue("unknown flags") }
        isGoodbye = flags & Self.goodbyeFlag != 0
        publicKey = try Ed25519PublicKey(rawRepresentation: reader.readSlice(count: Ed25519PublicKey.byteCount))
        peerId = PeerId(publicKey: publicKey)
        instance = try InstanceId(bytes: reader.readSlice(count: InstanceId.byteCount))
        counter = try reader.readUInt64()
        wallSeconds = try reader.readUInt64()
        guard counter > 0, wallSeconds <= UnixTime.maximum else { throw BytesError.invalidValue("out of range") }
        let tokenBytes = try reader.readSlice(count: Self.tokenFields.count)
        token = try AccessToken(binary: [1] + peerId.bytes + network.bytes + tokenBytes)
        let count = try reader.readUInt8()
        guard count <= Self.maximumAddressCount else {
            throw BytesError.tooLong(limit: Self.maximumAddressCount, found: Int(count))
        }
        var addresses: [SocketAddress] = []
        for _ in 0..<count {
            let address = try SocketAddress(reading: &reader)
            guard Self.canName(address) else { throw BytesError.invalidValue("an address that cannot be dialled") }
            addresses.append(address)
        }
        self.addresses = addresses
        body = Array(bytes.prefix(bytes.count - reader.remaining))
        guard let signature = Ed25519Signature(try reader.readSlice(count: Ed25519Signature.byteCount)) else {
            throw BytesError.invalidLength(Ed25519Signature.byteCount)
        }
        self.signature = signature
        guard reader.readRemaining().allSatisfy({ $0 == 0 }) else {
            throw BytesError.nonCanonical("padding that is not zero")
        }
    }

    /// The 384 bytes.
    var bytes: [UInt8] {
        var bytes = body + signature.bytes
        bytes += repeatElement(0, count: Self.byteCount - bytes.count)
        return bytes
    }

    /// The bytes that the signature covers.
    func signedBytes(for carrier: Carrier) -> [UInt8] {
        Self.signedBytes(body: body, network: token.networkId, carrier: carrier)
    }

    private static func signedBytes(body: [UInt8], network: NetworkId, carrier: Carrier) -> [UInt8] {
        carrier.label.message(network.bytes, body)
    }

    /// Whether an announcement may name the address: one machine, or the source of the datagram.
    static func canName(_ address: SocketAddress) -> Bool {
        address.port != 0 && address.unmapped == address && (address.ip.isUnicast || address.isUnspecified)
    }
}
