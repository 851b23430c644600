/// The metrics of a node: the mobile specification's instruments under the names that a collector shows.
///
/// Counters end in `_total`, and every other name in its unit, as Prometheus advises.
public enum RunarMetric: String, CaseIterable, Sendable {
    // P2PMetrics
    case activeConnections = "runar_active_connections"
    case totalConnections = "runar_connections_total"
    case failedConnections = "runar_failed_connections_total"
    case activeNetworks = "runar_active_networks"
    case peersPerNetwork = "runar_peers_per_network"
    case messagesSent = "runar_messages_sent_total"
    case messagesReceived = "runar_messages_received_total"
    case messageSize = "runar_message_size_bytes"
    case dhtOperations = "runar_dht_operations_total"
    case dhtLatency = "runar_dht_latency_seconds"
    case dhtStorageSize = "runar_dht_storage_size_bytes"
    case tokenValidations = "runar_token_validations_total"
    case tokenValidationFailures = "runar_token_validation_failures_total"

    // NetworkMetrics, labelled `network`
    case activePeers = "runar_active_peers"
    case peerMessageRates = "runar_peer_message_rate_per_second"
    case peerLatencies = "runar_peer_latency_seconds"
    case bytesSent = "runar_sent_bytes_total"
    case bytesReceived = "runar_received_bytes_total"
    case bandwidthUsage = "runar_bandwidth_usage_bytes_per_second"
    case discoveryAttempts = "runar_discovery_attempts_total"
    case discoverySuccesses = "runar_discovery_successes_total"
    case discoveryTime = "runar_discovery_time_seconds"

    /// The description of the metric, in words for a collector.
    public var explanation: String {
        switch self {
        case .activeConnections: "Connections to peers at this moment."
        case .totalConnections: "Connections that came about or were tried in vain."
        case .failedConnections: "Connections that were tried in vain."
        case .activeNetworks: "Networks of which this device is a member at this moment."
        case .peersPerNetwork: "Admitted peers of a network, seen each time that one came or went."
        case .messagesSent: "Messages, requests, answers and batches of events that this device sent."
        case .messagesReceived: "Messages, requests, answers and batches of events that came from others."
        case .messageSize: "Bytes of each of them, without headers."
        case .dhtOperations: "Requests of this device to hash tables that ended, by type."
        case .dhtLatency: "Seconds that they took."
        case .dhtStorageSize: "Bytes of records that this device holds for its networks."
        case .tokenValidations: "Access tokens of peers that were checked."
        case .tokenValidationFailures: "Access tokens of peers that were no good."
        case .activePeers: "Peers admitted in the network at this moment."
        case .peerMessageRates: "Messages to a peer in each second in which there were any."
        case .peerLatencies: "Seconds until a peer confirmed a message or answered a request."
        case .bytesSent: "Bytes of messages, requests, answers, events and files sent."
        case .bytesReceived: "Bytes of messages, requests, answers, events and files received."
        case .bandwidthUsage: "Bytes sent and received in each second in which there were any."
        case .discoveryAttempts: "Searches for members, on the local network and for a peer that was not connected."
        case .discoverySuccesses: "Searches that found whom they were for."
        case .discoveryTime: "Seconds that these took."
        }
    }

    /// The explanation of each name, for exporters.
    public static let explanations: [String: String] = Dictionary(
        uniqueKeysWithValues: Self.allCases.map { ($0.rawValue, $0.explanation) }
    )
}
