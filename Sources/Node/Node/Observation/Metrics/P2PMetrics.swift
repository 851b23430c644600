internal import Concurrency
public import CoreMetrics

/// What a node does, measured by the mobile specification's instruments.
///
/// The names are in ``RunarMetric``. A gauge moves by differences, so that the nodes of one process add up where they
/// share a factory.
public final class P2PMetrics: Sendable {
    /// Types of operations that are told apart; a further one counts as `other`, so that nobody makes series without end.
    private static let operationTypeLimit = 32

    private let factory: any MetricsFactory
    private let activeConnections: Meter
    private let totalConnections: Counter
    private let failedConnections: Counter
    private let activeNetworks: Level
    private let peersPerNetwork: Recorder
    private let messagesSent: Counter
    private let messagesReceived: Counter
    private let messageSize: Recorder
    private let dhtOperations = Locked<[String: Counter]>([:])
    private let dhtLatency: Timer
    private let dhtStorageSize: Level
    private let tokenValidations: Counter
    private let tokenValidationFailures: Counter

    /// Makes the instruments at `factory`: that of the process, unless another one is given.
    public init(factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
        self.activeConnections = Meter(.activeConnections, factory)
        self.totalConnections = Counter(.totalConnections, factory)
        self.failedConnections = Counter(.failedConnections, factory)
        self.activeNetworks = Level(Meter(.activeNetworks, factory))
        self.peersPerNetwork = Recorder(.peersPerNetwork, factory)
        self.messagesSent = Counter(.messagesSent, factory)
        self.messagesReceived = Counter(.messagesReceived, factory)
        self.messageSize = Recorder(.messageSize, factory)
        self.dhtLatency = Timer(.dhtLatency, factory)
        self.dhtStorageSize = Level(Meter(.dhtStorageSize, factory))
        self.tokenValidations = Counter(.tokenValidations, factory)
        self.tokenValidationFailures = Counter(.tokenValidationFailures, factory)
    }

    /// Counts a connection that came about, or one that was tried in vain.
    public func recordConnection(success: Bool) {
        self.totalConnections.increment()
        if success {
            self.activeConnections.increment()
        } else {
            self.failedConnections.increment()
        }
    }

    /// Counts the end of a connection that came about.
    public func recordDisconnection() {
        self.activeConnections.decrement()
    }

    /// Counts a message of `size` bytes.
    public func recordMessage(size: Int, isOutbound: Bool) {
        self.messageSize.record(size)
        if isOutbound {
            self.messagesSent.increment()
        } else {
            self.messagesReceived.increment()
        }
    }

    /// Counts a request to a hash table, and the seconds that it took.
    public func recordDHTOperation(type: String, duration: Double) {
        self.operations(of: type).increment()
        self.dhtLatency.recordSeconds(duration)
    }

    /// Counts access tokens that were checked, and those of them that were no good.
    public func recordTokenValidations(count: Int, failures: Int) {
        self.tokenValidations.increment(by: count)
        self.tokenValidationFailures.increment(by: failures)
    }

    /// Says how many networks this device is a member of.
    public func setActiveNetworks(_ count: Int) {
        self.activeNetworks.set(to: count)
    }

    /// Says how many bytes of records this device holds.
    public func setDHTStorageSize(_ byteCount: Int) {
        self.dhtStorageSize.set(to: byteCount)
    }

    /// Says how many peers a network has that has just got or lost one.
    public func recordPeers(inNetwork count: Int) {
        self.peersPerNetwork.record(count)
    }

    private func operations(of type: String) -> Counter {
        self.dhtOperations.withLock { counters in
            if let counter = counters[type] { return counter }
            let type = counters.count < Self.operationTypeLimit ? type : "other"
            let counter = counters[type] ?? Counter(.dhtOperations, self.factory, [("type", type)])
            counters[type] = counter
            return counter
        }
    }
}
