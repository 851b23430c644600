internal import BlindTokens
internal import Bytes
internal import CryptoPrimitives
internal import ExitModel
internal import GatewayStore
internal import Identity
internal import Platform

/// The redemption of tokens for leases.
///
/// The order is that of the costs and of the consequences: the form and its sizes (422), the signature of the token (401),
/// the encapsulation, which refuses an invalid key of the client before the token is lost, the spent set (409) with the
/// lease in one transaction, and the tunnel. Nothing of a request is logged.
struct RedemptionService: Sendable {
    let configuration: GatewayConfiguration
    let issuer: IssuerKeys
    let store: GatewayStore
    /// The spent set of several gateways; nil for that of the store.
    let sharedSpent: (any SpentSet)?
    let leases: LeaseKeeper
    let tunnelKey: X25519PublicKey
    let clocks: Clocks
    /// A key that detects points of low order.
    private let probe: X25519PrivateKey

    init(
        _ configuration: GatewayConfiguration,
        issuer: IssuerKeys,
        store: GatewayStore,
        sharedSpent: (any SpentSet)?,
        leases: LeaseKeeper,
        tunnelKey: X25519PublicKey,
        clocks: Clocks
    ) {
        self.configuration = configuration
        self.issuer = issuer
        self.store = store
        self.sharedSpent = sharedSpent
        self.leases = leases
        self.tunnelKey = tunnelKey
        self.clocks = clocks
        var random = SystemRandom()
        probe = X25519PrivateKey(using: &random)
    }

    /// Redeems the token in the value of `Authorization`.
    ///
    /// - Throws: ``GatewayError``, ``TokenRefusal``, ``BlindTokenError``, ``ExitModelError``, ``GatewayStoreError``.
    func redeem(_ form: RedemptionForm, authorization: String) async throws -> RedemptionReport {
        guard !leases.isDraining else { throw GatewayError.draining }
        guard let bytes = try PrivateTokenHeader.tokenBytes(inAuthorization: authorization) else {
            throw GatewayError.tokenMissing
        }
        let now = clocks.wallSeconds()
        let verified = try issuer.verifier(at: now).verify(bytes, at: now)
        try check(form.clientPublicKey)
        let (secret, encapsulated) = try form.encapsulationKey.encapsulate()
        let request = LeaseRequest(
            clientKey: form.clientPublicKey,
            presharedKey: secret,
            ends: now + configuration.leaseLifeSeconds,
            unconfirmedEnds: now + GatewayConfiguration.confirmationSeconds
        )
        let underWay = try leases.beginRedemption()
        defer { leases.endRedemption() }
        let lease = try await grant(request, verified, underWay: underWay)
        try await leases.open(lease)
        return try report(lease, encapsulated)
    }

    private func grant(
        _ request: LeaseRequest,
        _ verified: TokenVerifier.Verified,
        underWay: Int
    ) async throws -> Lease {
        let spent = Bytes32(verified.token.input.spendId) ?? Bytes32(sha256: verified.token.input.bytes)
        guard let sharedSpent else { return try await store.redeem(spent, epoch: verified.epoch.number, request) }
        // The other set shares no transaction with the leases: a full gateway refuses before the token is spent. Each of the
        // redemptions under way may take an address; one by a client with a lease keeps its address.
        if try await store.lease(of: request.clientKey) == nil {
            let count = try await store.leaseCount() + underWay
            guard count <= store.leaseLimit else { throw GatewayStoreError.full(limit: store.leaseLimit) }
        }
        guard try await sharedSpent.spend(spent, epoch: verified.epoch.number) == .first else {
            throw GatewayStoreError.tokenSpent
        }
        return try await store.grant(request)
    }

    /// - Throws: ``GatewayError/badClientKey``.
    private func check(_ key: Bytes32) throws {
        do {
            _ = try probe.sharedSecret(with: X25519PublicKey(rawRepresentation: key.bytes))
        } catch {
            throw GatewayError.badClientKey
        }
    }

    private func report(_ lease: Lease, _ encapsulated: EncapsulatedKey) throws -> RedemptionReport {
        guard let peerPublicKey = Bytes32(tunnelKey.bytes) else { throw GatewayError.tunnelFailed }
        return try RedemptionReport(
            endpoints: configuration.endpoints,
            peerPublicKey: peerPublicKey,
            addresses: configuration.network.addresses(lease.slot),
            resolvers: configuration.resolvers,
            encapsulatedKey: encapsulated,
            leaseEnds: lease.ends,
            keepaliveSeconds: GatewayConfiguration.keepaliveSeconds,
            mtu: GatewayConfiguration.mtu
        )
    }
}
