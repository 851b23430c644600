internal import Identity
internal import NodeCore
internal import Transport

/// Dials a peer at several addresses at once, each a little later than the one before it (RFC 8305).
struct Dialler: Sendable {
    let endpoint: any Endpoint
    let clock: NodeClock
    /// The pause before the next address is dialled.
    let stagger: Duration
    /// Records the events of an address.
    let record: @Sendable (PathHistory.Event) -> Void

    /// Returns the first connection, or nil and the last failure; later connections are closed.
    func race(
        to peer: PeerId,
        at addresses: [SocketAddress]
    ) async -> (winner: (any Connection)?, failure: String) {
        await withTaskGroup(of: Result<any Connection, any Error>.self) { group in
            for (position, address) in addresses.enumerated() {
                group.addTask { await dial(peer, at: address, afterTurns: position) }
            }
            var winner: (any Connection)?
            var failure = "the connection broke immediately"
            for await result in group {
                switch result {
                case .success(let connection) where winner == nil:
                    winner = connection
                    group.cancelAll()
                case .success(let connection): connection.close(code: .superseded)
                case .failure(let error):
                    if !(error is CancellationError) { failure = "\(error)" }
                }
            }
            return (winner, failure)
        }
    }

    private func dial(
        _ peer: PeerId,
        at address: SocketAddress,
        afterTurns turns: Int
    ) async -> Result<any Connection, any Error> {
        do {
            if turns > 0 { try await clock.sleep(clock.now().monotonic + stagger * turns) }
            record(.dialled(address))
            let connection = try await endpoint.connect(to: address, expecting: peer)
            record(.reached(address))
            return .success(connection)
        } catch {
            // The end of a cancelled dial, which another one overtook, is no evidence about its address.
            if !Task.isCancelled { record(.notReached(address, reason: "\(error)")) }
            return .failure(error)
        }
    }
}
