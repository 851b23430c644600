internal import Bytes
internal import Crypto

/// A device's answer to a new one of its person: a certificate, memberships, and network keys sealed to it.
///
/// It is bound to the very request by a signature of the person's authority. Not a secret; the new device compares the
/// ``code`` on both screens. Layout: `docs/spec/devices.md`, section 4.
public struct DeviceAnswer: Hashable, Sendable {
    /// The membership in one network.
    package struct Membership: Hashable, Sendable {
        /// The new device's token, with where the members listen if that is known.
        package let token: AccessToken
        /// The network's metadata.
        package let metadata: NetworkMetadata
        /// The network's key, for a device that will sign for it.
        package let networkKey: NetworkKeyMessage?

        package init(token: AccessToken, metadata: NetworkMetadata, networkKey: NetworkKeyMessage?) {
            self.token = token
            self.metadata = metadata
            self.networkKey = networkKey
        }
    }

    /// The most networks of one answer.
    package static let maximumMembershipCount = 8
    /// The most addresses of the device that answers.
    package static let maximumAddressCount = 8
    /// The largest certificate message.
    package static let maximumCertificateByteCount = 4_096
    static let subject = "a device's answer"
    private static let label = DomainLabel("runar/device-answer/v1")

    /// The device that answers.
    public let sender: PeerId
    /// The person's authority, whose key signs the answer.
    public let authority: Ed25519PublicKey
    /// The addresses at which the answering device can be dialled.
    public let addresses: [SocketAddress]
    /// The certificate and its authority's, not parsed here.
    package let certificateMessage: [UInt8]
    /// The memberships of the new device.
    package let memberships: [Membership]
    let signature: Ed25519Signature

    /// Answers `request` in the name of the person whose root key derives `authority`.
    package init(
        to request: DeviceRequest,
        from sender: PeerId,
        at addresses: [SocketAddress],
        certificateMessage: [UInt8],
        memberships: [Membership],
        signedBy authority: Ed25519PrivateKey
    ) throws(IdentityError) {
        guard memberships.count <= Self.maximumMembershipCount else {
            throw .full(of: Self.subject, limit: Self.maximumMembershipCount)
        }
        let fields = try Self.fields(
            sender: sender,
            authority: authority.publicKey,
            addresses: addresses.forOthers(limit: Self.maximumAddressCount),
            certificateMessage: certificateMessage,
            memberships: memberships
        )
        let signature = try Ed25519Signature(of: Self.signedBytes(fields, request), by: authority)
        try self.init(binary: fields + signature.bytes)
    }

    init(
        sender: PeerId,
        authority: Ed25519PublicKey,
        addresses: [SocketAddress],
        certificateMessage: [UInt8],
        memberships: [Membership],
        signature: Ed25519Signature
    ) {
        self.sender = sender
        self.authority = authority
        self.addresses = addresses
        self.certificateMessage = certificateMessage
        self.memberships = memberships
        self.signature = signature
    }

    /// Throws unless the answer is genuine, for `request`, and every token in it counts at `nowSeconds` since 1970.
    package func check(for request: DeviceRequest, at nowSeconds: UInt64) throws(IdentityError) {
        guard authority.isValidSignature(signature.bytes, for: Self.signedBytes(try fields, request)) else {
            throw .malformed(of: Self.subject, reason: "it answers another request, or was changed")
        }
        for membership in memberships {
            let network = membership.token.networkId
            let problem = membership.token.problem(
                at: nowSeconds,
                for: request.peerId,
                in: network,
                revoked: { _ in false },
                verifySignature: { $0.verifySignature() }
            )
            if let problem { throw .malformed(of: Self.subject, reason: "a token in it is refused: \(problem)") }
            guard membership.metadata.networkId == network, membership.metadata.verify() else {
                throw .malformed(of: Self.subject, reason: "a network's text in it is of another network or forged")
            }
            if let key = membership.networkKey, key.networkId != network || key.peerId != request.peerId {
                throw .malformed(of: Self.subject, reason: "a network key in it is for another network or device")
            }
        }
    }

    /// The code that both screens must show.
    public var code: String {
        get throws(IdentityError) { DeviceCode.text(of: try binary) }
    }

    /// The networks that the new device becomes a member of.
    public var networkIds: [NetworkId] { memberships.map(\.token.networkId) }

    /// The networks that the new device will sign for, too.
    public var administeredNetworkIds: [NetworkId] { memberships.compactMap(\.networkKey?.networkId) }

    private static func signedBytes(_ fields: [UInt8], _ request: DeviceRequest) -> [UInt8] {
        label.message(Array(SHA256.hash(data: request.binary)), fields)
    }
}
