internal import Identity
package import OneTimeKeys

// Exchanges of one-time keys, whose messages are requests to a service of the peer and so pass the driver.
extension NodeCore {
    /// Feeds an input to the exchanges and performs the effects.
    mutating func tellKeys(_ input: KeyExchanges.Input, _ turn: inout Turn) {
        run(input, of: (), in: \.protocols.keys, &turn) { core, effect, _, turn in
            switch effect {
            case .wake(let time):
                core.protocols.keys.wake(at: time)
                core.timers.arm(time, &turn)
            case .host(let peer, let effect): turn.emit(.keys(peer, effect))
            }
        }
    }

    /// The exchanges with all peers, which a later core continues.
    package var keyExchanges: [KeyExchange] { protocols.keys.value.exchanges }
}
