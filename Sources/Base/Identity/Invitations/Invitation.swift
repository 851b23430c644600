public import Bytes
internal import Crypto

/// The content of one scan that joins a network: the inviter, its addresses, and a secret that is good once.
///
/// The secret itself never crosses the network: the joiner shows with a proof that it has it,
/// bound to the very connection. Counting uses and wrong proofs is the inviter's. Layout: `docs/spec/identity.md`,
/// section 8.
public struct Invitation: Sendable {
    /// The validity of an invitation.
    public static let lifetimeSeconds: UInt64 = 600
    /// The time in seconds for which an inviter remembers an expired invitation, so that it can report how it ended.
    package static let memorySeconds: UInt64 = 3600
    /// The size of the secret in bytes.
    package static let secretByteCount = 16
    /// The most addresses that fit a scan.
    package static let maximumAddressCount = 8

    /// The inviter, whose key the joiner must see in TLS.
    public let inviter: PeerId
    /// The network to join.
    public let networkId: NetworkId
    /// The addresses at which the inviter listens.
    public let addresses: [SocketAddress]
    /// The 16 bytes that are good once.
    public let secret: SecretBytes
    /// The second since 1970 up to which it is good, by the inviter's clock.
    public let expirationSeconds: UInt64

    /// Makes an invitation with a new secret, good for ten minutes from `nowSeconds`.
    ///
    /// Addresses that other devices could not dial are left out, as are those beyond the eighth.
    public init(inviter: PeerId, networkId: NetworkId, addresses: [SocketAddress], nowSeconds: UInt64) {
        var random = SystemRandomNumberGenerator()
        self.init(
            inviter: inviter,
            networkId: networkId,
            addresses: addresses,
            nowSeconds: nowSeconds,
            generating: &random
        )
    }

    /// Makes an invitation with a secret drawn from `random`.
    package init(
        inviter: PeerId,
        networkId: NetworkId,
        addresses: [SocketAddress],
        nowSeconds: UInt64,
        generating random: inout some RandomNumberGenerator
    ) {
        var bytes = (0..<Self.secretByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        self.init(
            inviter: inviter,
            networkId: networkId,
            addresses: addresses.forOthers(limit: Self.maximumAddressCount),
            secret: SecretBytes(consuming: &bytes),
            expirationSeconds: min(nowSeconds, UnixTime.maximum - Self.lifetimeSeconds) + Self.lifetimeSeconds
        )
    }

    init(
        inviter: PeerId,
        networkId: NetworkId,
        addresses: [SocketAddress],
        secret: SecretBytes,
        expirationSeconds: UInt64
    ) {
        self.inviter = inviter
        self.networkId = networkId
        self.addresses = addresses
        self.secret = secret
        self.expirationSeconds = expirationSeconds
    }

    /// Whether the invitation has expired by the inviter's clock, which alone decides.
    package func isExpired(at nowSeconds: UInt64) -> Bool { nowSeconds > expirationSeconds }
}

extension Invitation {
    /// The label under which both sides export the TLS keying material that binds proof and digits (RFC 8446, section 7.5).
    package static let exporterLabel = "EXPORTER-runar-join"
    /// The number of exported bytes.
    package static let exporterByteCount = 32
    private static let proofLabel = DomainLabel("runar/invitation-proof/v1")
    private static let idLabel = DomainLabel("runar/invitation-id/v1")
    private static let digitsLabel = DomainLabel("runar/invitation-digits/v1")

    /// Returns the joiner's proof: HMAC-SHA256 under the secret over label, network, inviter, joiner and exporter.
    package func proof(exporter: [UInt8], joiner: PeerId) -> [UInt8] {
        unsafe secret.withUnsafeBytes { key in
            unsafe Array(
                HMAC<SHA256>.authenticationCode(
                    for: Self.proofLabel.message(networkId.bytes, inviter.bytes, joiner.bytes, exporter),
                    using: SymmetricKey(data: key)
                )
            )
        }
    }

    /// Whether `proof` is that of a joiner with the secret on this connection; compared in constant time.
    package func isValidProof(_ proof: [UInt8], exporter: [UInt8], joiner: PeerId) -> Bool {
        ConstantTime.areEqual(proof, self.proof(exporter: exporter, joiner: joiner))
    }

    /// The six digits that both screens show, by which the inviter's user identifies the joiner.
    package static func digits(
        exporter: [UInt8],
        networkId: NetworkId,
        inviter: PeerId,
        joiner: PeerId
    ) -> String {
        let message = digitsLabel.message(networkId.bytes, inviter.bytes, joiner.bytes, exporter)
        let number = SHA256.hash(data: message).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let digits = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }
}

extension Invitation: Identifiable {
    /// An identifier of an invitation that does not reveal the secret; it never leaves the device.
    public struct ID: Hashable, Sendable {
        let number: UInt64
    }

    /// The name of the invitation in events.
    public var id: ID {
        let digest = unsafe secret.withUnsafeBytes { key in
            unsafe HMAC<SHA256>.authenticationCode(for: Self.idLabel.prefix, using: SymmetricKey(data: key))
        }
        return ID(number: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}

extension Invitation: Equatable {
    /// Whether both are the same invitation; secrets are compared in constant time.
    public static func == (left: Invitation, right: Invitation) -> Bool {
        left.inviter == right.inviter && left.networkId == right.networkId && left.addresses == right.addresses
            && left.expirationSeconds == right.expirationSeconds && left.secret == right.secret
    }
}

extension Invitation: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows everything but the secret.
    public var description: String {
        "Invitation(inviter: \(inviter.short), network: \(networkId.short), secret: redacted)"
    }

    /// Shows everything but the secret.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
