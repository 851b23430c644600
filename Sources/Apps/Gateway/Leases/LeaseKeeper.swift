internal import Concurrency
internal import CryptoPrimitives
internal import GatewayStore
internal import Identity
internal import Logging
internal import Platform

/// The leases of a gateway and the peers of its tunnel, kept alike.
///
/// Changes of the tunnel happen one after the other, each with the lease that is stored then. So concurrent redemptions by
/// one client, and the end of a lease that is replaced at that moment, leave the engine with the stored state.
final class LeaseKeeper: Sendable {
    private struct State {
        var load: GatewayLoad
        /// The bytes of each client when they were read last.
        var byteCounts: [X25519PublicKey: UInt64] = [:]
        /// The clients whose handshake is recorded.
        var confirmed: Set<X25519PublicKey> = []
        var measured: Duration?
        var traffic: UInt64 = 0
        var isDraining = false
        /// The redemptions that may still add a lease.
        var redemptionCount = 0
    }

    /// The most leases that end in one step.
    private static let batch = 500

    let store: GatewayStore
    private let control: any TunnelControl
    private let network: LeaseNetwork
    private let quota: UInt64?
    private let clocks: Clocks
    private let logger: Logger
    private let turn = AsyncMutex()
    private let state: Locked<State>

    init(
        _ configuration: GatewayConfiguration,
        store: GatewayStore,
        control: any TunnelControl,
        clocks: Clocks,
        logger: Logger
    ) {
        self.store = store
        self.control = control
        network = configuration.network
        quota = configuration.quotaBytes
        self.clocks = clocks
        self.logger = logger
        state = Locked(
            State(load: GatewayLoad(leaseLimit: store.leaseLimit, capacity: configuration.capacityBytes))
        )
    }

    /// Whether the gateway takes no further clients.
    var isDraining: Bool {
        get { state.withLock { $0.isDraining } }
        set { state.withLock { $0.isDraining = newValue } }
    }

    /// The load in percent.
    var load: Int { state.withLock { $0.load.percent } }

    /// The bytes of all clients since the start.
    var traffic: UInt64 { state.withLock { $0.traffic } }

    /// Admits a redemption before its token is spent; call ``endRedemption()`` when its lease is open, or refused.
    ///
    /// - Returns: The number of redemptions under way, with this one.
    /// - Throws: ``GatewayError/draining``.
    func beginRedemption() throws(GatewayError) -> Int {
        let count: Int? = state.withLock { state in
            guard !state.isDraining else { return nil }
            state.redemptionCount += 1
            return state.redemptionCount
        }
        guard let count else { throw .draining }
        return count
    }

    func endRedemption() { state.withLock { $0.redemptionCount -= 1 } }

    /// Adds the client of a lease that was granted to the tunnel.
    ///
    /// If the engine refuses, the lease ends, and the token is lost: a token that was spent is never made good again.
    ///
    /// - Throws: ``GatewayError/tunnelFailed``, ``GatewayStoreError``.
    func open(_ lease: Lease) async throws {
        state.withLock { $0.load.leaseCount += 1 }
        try await turn.withLock {
            do {
                guard let stored = try await store.lease(of: lease.clientKey) else { throw GatewayError.tunnelFailed }
                try await control.set([peer(stored)])
            } catch {
                logger.error("a client was not added to the tunnel", metadata: ["error": "\(error)"])
                _ = try await store.end([lease])
                throw GatewayError.tunnelFailed
            }
        }
    }

    /// Sets the peers of all leases, after a start of the engine.
    ///
    /// - Throws: ``GatewayStoreError``, an error of the engine.
    func restore() async throws {
        try await turn.withLock {
            let leases = try await store.leases()
            if !leases.isEmpty { try await control.set(leases.map(peer)) }
            state.withLock { $0.load.leaseCount = leases.count }
        }
    }

    /// Reads the traffic, and ends leases that expired or used up their quota.
    ///
    /// - Returns: The number of leases that remain and of redemptions that may add one.
    /// - Throws: ``GatewayStoreError``; an error of the engine is logged.
    @discardableResult
    func update() async throws -> Int {
        do {
            try await record(try await control.traffic())
        } catch let error as GatewayStoreError {
            throw error
        } catch {
            logger.error("the traffic of the tunnel cannot be read", metadata: ["error": "\(error)"])
        }
        while true {
            let due = try await store.due(at: clocks.wallSeconds(), limit: Self.batch)
            try await end(due)
            if due.count < Self.batch { break }
        }
        if let quota { try await end(try await store.leases(aboveByteCount: quota)) }
        await store.erase()
        // Before the leases: a redemption that ends in between is counted twice rather than missed.
        let redemptionCount = state.withLock { $0.redemptionCount }
        let count = try await store.leaseCount()
        state.withLock { $0.load.leaseCount = count }
        return count + redemptionCount
    }

    /// Ends all leases.
    ///
    /// - Throws: ``GatewayStoreError``.
    func endAll() async throws {
        try await end(try await store.leases())
        state.withLock { $0.load.leaseCount = 0 }
    }

    private func end(_ leases: [Lease]) async throws {
        guard !leases.isEmpty else { return }
        try await turn.withLock {
            let keys = leases.compactMap { key($0) }
            do {
                try await control.remove(keys)
            } catch {
                logger.error("the tunnel did not remove clients", metadata: ["error": "\(error)"])
            }
            let kept = try await store.end(leases)
            state.withLock { state in
                for key in keys {
                    state.byteCounts[key] = nil
                    state.confirmed.remove(key)
                }
            }
            if !kept.isEmpty { try await control.set(kept.map(peer)) }
        }
    }

    // MARK: Traffic

    private func record(_ traffic: [PeerTraffic]) async throws {
        let now = clocks.monotonic()
        let uses = state.withLock { state in
            var (uses, total): ([LeaseUse], UInt64) = ([], 0)
            for peer in traffic {
                let former = state.byteCounts.updateValue(peer.byteCount, forKey: peer.publicKey) ?? 0
                // An engine that was started again counts from zero.
                let added = peer.byteCount >= former ? peer.byteCount - former : peer.byteCount
                total += added
                let isNew = peer.lastHandshake != nil && state.confirmed.insert(peer.publicKey).inserted
                // Without a quota, the traffic of a client is not stored.
                let stored = quota == nil ? 0 : added
                guard isNew || stored > 0, let key = Bytes32(peer.publicKey.bytes) else { continue }
                uses.append(LeaseUse(clientKey: key, addedBytes: stored, isConfirmed: peer.lastHandshake != nil))
            }
            state.traffic += total
            if let measured = state.measured, now > measured {
                state.load.throughput = UInt64(Double(total) / ((now - measured) / .seconds(1)))
            }
            state.measured = now
            return uses
        }
        try await store.record(uses)
    }

    /// The clients for the operator: addresses, ends and traffic, without keys.
    ///
    /// - Throws: ``GatewayStoreError``.
    func clients() async throws -> [GatewayClientReport] {
        let counts = state.withLock { $0.byteCounts }
        return try await store.leases().map { lease in
            GatewayClientReport(
                addresses: network.addresses(lease.slot).map(\.description),
                leaseEnds: lease.ends,
                bytes: key(lease).flatMap { counts[$0] } ?? 0
            )
        }
    }

    private func key(_ lease: Lease) -> X25519PublicKey? {
        try? X25519PublicKey(rawRepresentation: lease.clientKey.bytes)  // 32 bytes are one
    }

    /// - Throws: ``X25519Error`` for keys of another size, which no lease has.
    private func peer(_ lease: Lease) throws -> TunnelPeer {
        TunnelPeer(
            publicKey: try X25519PublicKey(rawRepresentation: lease.clientKey.bytes),
            presharedKey: try PresharedKey(lease.presharedKey),
            addresses: network.addresses(lease.slot)
        )
    }
}
