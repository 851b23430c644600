internal import Concurrency
internal import Identity
internal import Kademlia
internal import NodeCore
internal import Services
internal import Transport

// Providers that this node is not connected to: the hash table knows them.
extension NodeDriver {
    /// How long the hash table may take; then the service counts as missing.
    private static let searchPatience = Duration.seconds(2)
    /// How many providers out of the hash table are tried, those that wrote last first.
    private static let searchLimit = 4

    /// Looks for providers that are not connected and opens a stream to the first that can be reached.
    ///
    /// - Throws: `failure`, which says why no connected member could be asked, if there is nobody else.
    func openElsewhere(
        _ path: String,
        _ deadline: Duration,
        in network: NetworkId,
        excluding tried: [PeerId],
        orThrow failure: ServiceFailure
    ) async throws -> Opening {
        guard failure.kind != .noAction else { throw failure }
        let found = try await self.search(path.prefix { $0 != "/" }, deadline, in: network)
        // Whoever was just connected may have announced itself meanwhile.
        do {
            return try self.openConnected(path, deadline, in: network, excluding: tried)
        } catch is ServiceFailure {
            // Still nobody.
        }
        let providers = self.state.withLock { state in
            found.filter { peer in
                // Who is connected has said what it offers.
                !tried.contains(peer) && peer != self.localPeerId && state.core.offers(of: peer, in: network).isEmpty
            }
        }
        for provider in providers.prefix(Self.searchLimit) {
            do {
                return try await self.reachAndOpen(provider, deadline, in: network)
            } catch is NodeError {
                continue
            }
        }
        throw providers.isEmpty ? failure : ServiceFailure(kind: .unreachable)
    }

    /// Who wrote into the hash table that it offers the service, the newest first.
    private func search(
        _ service: Substring,
        _ deadline: Duration,
        in network: NetworkId
    ) async throws -> [PeerId] {
        let now = self.configuration.clock.now().monotonic
        let isMissing = self.state.withLock { $0.missingServices.contains(service, in: network, at: now) }
        guard !isMissing, deadline > now else { return [] }
        let policy = Kademlia.RequestPolicy(
            deadline: min(Self.searchPatience, deadline - now),
            attempts: 1,
            reading: .everyone
        )
        let answer = try await self.ask(.all(key: Services.recordKey(of: service)), in: network, policy)
        var providers: [PeerId] = []
        if case .found(let records) = answer.outcome { providers = records.filter { !$0.isTombstone }.map(\.writer) }
        if providers.isEmpty {
            let now = self.configuration.clock.now().monotonic
            self.state.withLock { $0.missingServices.add(service, in: network, at: now) }
        }
        return providers
    }
}
