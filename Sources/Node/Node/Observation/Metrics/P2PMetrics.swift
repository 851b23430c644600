public import CoreMetrics

/// The metrics of a node, by the mobile specification's instruments.
///
/// The names are in ``RunarMetric``. A gauge moves by differences, so that the nodes of one process add up where they
/// share a factory.
public final class P2PMetrics: Sendable {
    private let connections: ConnectionInstruments
    private let networks: NetworkInstruments
    private let messages: MessageInstruments
    private let tables: TableInstruments
    private let tokens: TokenInstruments

    /// Makes the instruments at `factory`: that of the process, unless another one is given.
    public init(factory: any MetricsFactory = MetricsSystem.factory) {
        connections = ConnectionInstruments(factory)
        networks = NetworkInstruments(factory)
        messages = MessageInstruments(factory)
        tables = TableInstruments(factory)
        tokens = TokenInstruments(factory)
    }

    /// Counts an established connection, or a failed attempt.
    public func recordConnection(success: Bool) {
        connections.total.increment()
        if success {
            connections.active.increment()
        } else {
            connections.failed.increment()
        }
    }

    /// Counts the end of an established connection.
    public func recordDisconnection() {
        connections.active.decrement()
    }

    /// Counts a message of `size` bytes.
    public func recordMessage(size: Int, isOutbound: Bool) {
        messages.size.record(size)
        if isOutbound {
            messages.sent.increment()
        } else {
            messages.received.increment()
        }
    }

    /// Counts a request to a hash table, and the seconds that it took.
    public func recordDHTOperation(type: String, duration: Double) {
        tables.counter(of: type).increment()
        tables.latency.recordSeconds(duration)
    }

    /// Counts access tokens that were checked, and those of them that were no good.
    public func recordTokenValidations(count: Int, failures: Int) {
        tokens.validations.increment(by: count)
        tokens.failures.increment(by: failures)
    }

    /// Sets the number of networks of which this device is a member.
    public func setActiveNetworks(_ count: Int) {
        networks.active.set(to: count)
    }

    /// Sets the number of bytes of stored records.
    public func setDHTStorageSize(_ byteCount: Int) {
        tables.storageSize.set(to: byteCount)
    }

    /// Records the number of peers of a network that has just gained or lost one.
    public func recordPeers(inNetwork count: Int) {
        networks.peers.record(count)
    }
}
