internal import Concurrency
package import Node

// The exchanges of one-time keys, which the node runs while it is on the network.
extension RunarNode {
    /// Runs the exchanges of `host` from now on, and in later starts.
    package func host(keysOf host: any KeyExchangeHost) {
        keyExchangeHost.withLock { $0 = host }
        phases.driver?.host(keysOf: host)
    }

    /// Gives the exchanges back to their host, and runs them no longer.
    package func endKeyExchanges() {
        keyExchangeHost.withLock { $0 = nil }
        phases.driver?.endKeyExchanges()
    }
}
