internal import Concurrency
package import Identity
internal import NodeCore
package import OneTimeKeys

/// The host of the exchanges of one-time keys, which stores their pools and sends their messages.
///
/// The driver calls it under its lock, in the order of the effects of ``NodeCore/NodeCore``: it must be quick and must not
/// call the driver.
package protocol KeyExchangeHost: Sendable {
    /// Begins to host the exchanges on a driver; returns its first inputs, or nil if the host has ended.
    ///
    /// The first input is ``OneTimeKeys/KeyExchanges/HostInput/opened(_:)``.
    func begin(on driver: NodeDriver) -> [KeyExchanges.HostInput]?

    /// Takes an effect of the exchange with a peer.
    func perform(_ effect: KeyExchanges.HostEffect, of peer: PeerId)

    /// Takes the exchanges back, because the node stops or the host ends.
    func end(_ exchanges: [KeyExchange])
}

// The exchanges of one-time keys, which outlive a driver: their host passes them from one to the next.
extension NodeDriver {
    /// Runs the exchanges of `host` from now on, in place of those of an earlier host.
    package func host(keysOf host: any KeyExchangeHost) {
        state.withLock { state in
            guard !state.lifecycle.isStopped else { return }
            endKeyExchanges(in: &state)
            guard let inputs = host.begin(on: self) else { return }
            state.keyExchangeHost = host
            for input in inputs { apply(.keys(input), to: &state) }
        }
    }

    /// Applies an input of the host; returns false if the exchanges were given back to it.
    package func apply(keys input: KeyExchanges.HostInput) -> Bool {
        state.withLock { state in
            guard state.keyExchangeHost != nil else { return false }
            apply(.keys(input), to: &state)
            return true
        }
    }

    /// Gives the exchanges back to their host.
    package func endKeyExchanges() {
        state.withLock { endKeyExchanges(in: &$0) }
    }

    func endKeyExchanges(in state: inout State) {
        guard let host = state.keyExchangeHost else { return }
        state.keyExchangeHost = nil
        host.end(state.core.keyExchanges)
        apply(.keys(.closed), to: &state)
    }
}
