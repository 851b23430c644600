internal import Identity
package import OneTimeKeys

// Exchanges of one-time keys, whose messages are requests to a service of the peer and so pass the driver.
extension NodeCore {
    /// Feeds an input to the exchanges and performs the effects.
    mutating func tellKeys(_ input: KeyExchanges.Input, _ now: NodeTime, _ effects: inout [Effect]) {
        run(input, of: (), in: \.protocols.keys, now, &effects) { core, effect, _, effects in
            switch effect {
            case .wake(let time):
                core.protocols.keys.wake(at: time)
                core.timers.arm(time, &effects)
            case .host(let peer, let effect): effects.append(.keys(peer, effect))
            }
        }
    }

    /// The exchanges with all peers, which a later core continues.
    package var keyExchanges: [KeyExchange] { protocols.keys.value.exchanges }
}
