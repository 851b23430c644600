internal import Identity
internal import Node
internal import Platform
public import Transport

extension RunarNode {
    /// Opens the stores of a node on a network inside this process, for tests of what an app builds on nodes.
    ///
    /// The node follows the clock of the network: on one with a ``VirtualClock`` its pauses and timeouts pass as quickly
    /// as the test lets them. Its wall clock starts at the real time and follows too.
    ///
    /// - Throws: ``KeychainError`` or ``StorageError`` when a store cannot be read.
    public convenience init(config: RunarNodeConfig, network: InMemoryNetwork) throws {
        let startSeconds = Clocks.system().wallSeconds()
        let startAge = network.age
        let clock = NodeClock(
            now: {
                let age = network.age
                let passed = UInt64(max((age - startAge).components.seconds, 0))
                return NodeTime(monotonic: age, wallSeconds: startSeconds + passed)
            },
            sleep: { try await network.sleep(untilAge: $0) }
        )
        try self.init(config: config, clock: clock) { key, _ in
            try network.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
        }
    }
}
