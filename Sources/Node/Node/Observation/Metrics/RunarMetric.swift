/// The metrics of a node: the mobile specification's instruments under the names that a collector shows.
///
/// Counters end in `_total`, and every other name in its unit, as Prometheus advises.
public enum RunarMetric: String, CaseIterable, Sendable {
    // P2PMetrics
    /// A gauge: the open connections to peers.
    case activeConnections = "runar_active_connections"
    /// A counter: the connections in either direction, and the attempts to connect that failed.
    case totalConnections = "runar_connections_total"
    /// A counter: the attempts to connect that failed.
    case failedConnections = "runar_failed_connections_total"
    /// A gauge: the networks of which this device is a member.
    case activeNetworks = "runar_active_networks"
    /// A distribution: the number of admitted peers of a network, recorded whenever it changes.
    case peersPerNetwork = "runar_peers_per_network"
    /// A counter: the messages, requests, answers and batches of events that were sent.
    case messagesSent = "runar_messages_sent_total"
    /// A counter: the messages, requests, answers and batches of events that were received.
    case messagesReceived = "runar_messages_received_total"
    /// A distribution: the size of each of these in bytes, without headers.
    case messageSize = "runar_message_size_bytes"
    /// A counter: the requests of this device to hash tables that ended, labelled `type`.
    case dhtOperations = "runar_dht_operations_total"
    /// A distribution: the duration of these requests, in seconds.
    case dhtLatency = "runar_dht_latency_seconds"
    /// A gauge: the records that this device holds for its networks, in bytes.
    case dhtStorageSize = "runar_dht_storage_size_bytes"
    /// A counter: the access tokens of peers that were checked.
    case tokenValidations = "runar_token_validations_total"
    /// A counter: the access tokens of peers that were refused.
    case tokenValidationFailures = "runar_token_validation_failures_total"

    // NetworkMetrics, labelled `network`
    /// A gauge: the peers that are admitted in the network.
    case activePeers = "runar_active_peers"
    /// A distribution: the messages to one peer in each second in which at least one was sent.
    case peerMessageRates = "runar_peer_message_rate_per_second"
    /// A distribution: the time until a peer confirmed a message or answered a request, in seconds.
    case peerLatencies = "runar_peer_latency_seconds"
    /// A counter: the bytes of messages, requests, answers, events and files that were sent.
    case bytesSent = "runar_sent_bytes_total"
    /// A counter: the bytes of messages, requests, answers, events and files that were received.
    case bytesReceived = "runar_received_bytes_total"
    /// A distribution: the bytes that were sent and received in each second in which there were any.
    case bandwidthUsage = "runar_bandwidth_usage_bytes_per_second"
    /// A counter: the searches for members on the local network, and for a peer that was not connected.
    case discoveryAttempts = "runar_discovery_attempts_total"
    /// A counter: the searches that found a member.
    case discoverySuccesses = "runar_discovery_successes_total"
    /// A distribution: the duration of successful searches, in seconds.
    case discoveryTime = "runar_discovery_time_seconds"

    /// The description of the metric, in words for a collector.
    public var explanation: String {
        switch self {
        case .activeConnections: "Connections to peers at this moment."
        case .totalConnections: "Connections to peers that were established or failed."
        case .failedConnections: "Connections to peers that failed to be established."
        case .activeNetworks: "Networks of which this device is a member at this moment."
        case .peersPerNetwork: "Admitted peers of a network, sampled when one connects or disconnects."
        case .messagesSent: "Messages, requests, answers and batches of events that this device sent."
        case .messagesReceived: "Messages, requests, answers and batches of events that this device received."
        case .messageSize: "Bytes of each message, without headers."
        case .dhtOperations: "Requests of this device to hash tables that ended, by type."
        case .dhtLatency: "Duration of requests to hash tables in seconds."
        case .dhtStorageSize: "Bytes of records that this device holds for its networks."
        case .tokenValidations: "Access tokens of peers that were checked."
        case .tokenValidationFailures: "Access tokens of peers that were refused."
        case .activePeers: "Peers admitted in the network at this moment."
        case .peerMessageRates: "Messages to a peer in each second with messages."
        case .peerLatencies: "Seconds until a peer confirmed a message or answered a request."
        case .bytesSent: "Bytes of messages, requests, answers, events and files sent."
        case .bytesReceived: "Bytes of messages, requests, answers, events and files received."
        case .bandwidthUsage: "Bytes sent and received in each second with traffic."
        case .discoveryAttempts: "Searches for members, on the local network and for a peer that was not connected."
        case .discoverySuccesses: "Searches that found their member."
        case .discoveryTime: "Duration of successful searches in seconds."
        }
    }

    /// The explanation of each name, for exporters.
    public static let explanations: [String: String] = Dictionary(
        uniqueKeysWithValues: Self.allCases.map { ($0.rawValue, $0.explanation) }
    )
}
