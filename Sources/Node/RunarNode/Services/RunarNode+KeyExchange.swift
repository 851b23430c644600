internal import Concurrency
package import Node

// The exchanges of one-time keys, which the node runs while it is on the network.
extension RunarNode {
    /// Runs the exchanges of `host` from now on, and in later starts.
    package func host(keysOf host: any KeyExchangeHost) {
        self.keyExchangeHost.withLock { $0 = host }
        self.phases.driver?.host(keysOf: host)
    }

    /// Gives the exchanges back to their host, and runs them no longer.
    package func endKeyExchanges() {
        self.keyExchangeHost.withLock { $0 = nil }
        self.phases.driver?.endKeyExchanges()
    }
}
