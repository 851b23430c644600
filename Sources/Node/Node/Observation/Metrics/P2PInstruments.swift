internal import Concurrency
internal import CoreMetrics

/// The instruments of connections.
struct ConnectionInstruments: Sendable {
    let active: Meter
    let total: Counter
    let failed: Counter

    init(_ factory: any MetricsFactory) {
        active = Meter(.activeConnections, factory)
        total = Counter(.totalConnections, factory)
        failed = Counter(.failedConnections, factory)
    }
}

/// The instruments of networks and their peers.
struct NetworkInstruments: Sendable {
    let active: Level
    /// Peers per network.
    let peers: Recorder

    init(_ factory: any MetricsFactory) {
        active = Level(Meter(.activeNetworks, factory))
        peers = Recorder(.peersPerNetwork, factory)
    }
}

/// The instruments of messages.
struct MessageInstruments: Sendable {
    let sent: Counter
    let received: Counter
    /// In bytes.
    let size: Recorder

    init(_ factory: any MetricsFactory) {
        sent = Counter(.messagesSent, factory)
        received = Counter(.messagesReceived, factory)
        size = Recorder(.messageSize, factory)
    }
}

/// The instruments of hash tables.
struct TableInstruments: Sendable {
    /// The limit of distinct types of operations; a further one counts as `other`, which bounds the series.
    private static let operationTypeLimit = 32

    let latency: Timer
    /// In bytes.
    let storageSize: Level
    private let factory: any MetricsFactory
    private let operations = Locked<[String: Counter]>([:])

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        latency = Timer(.dhtLatency, factory)
        storageSize = Level(Meter(.dhtStorageSize, factory))
    }

    /// The counter of a type of operations.
    func counter(of type: String) -> Counter {
        operations.withLock { counters in
            if let counter = counters[type] { return counter }
            let type = counters.count < Self.operationTypeLimit ? type : "other"
            let counter = counters[type] ?? Counter(.dhtOperations, factory, [("type", type)])
            counters[type] = counter
            return counter
        }
    }
}

/// The instruments of access tokens.
struct TokenInstruments: Sendable {
    let validations: Counter
    let failures: Counter

    init(_ factory: any MetricsFactory) {
        validations = Counter(.tokenValidations, factory)
        failures = Counter(.tokenValidationFailures, factory)
    }
}
