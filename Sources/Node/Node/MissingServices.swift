internal import Identity

/// The services that have no provider according to the hash table, each for a short time.
struct MissingServices: Sendable {
    private struct Key: Hashable, Sendable {
        let network: NetworkId
        let service: String
    }

    /// The time for which a service is not looked up again.
    private static let lifetime = Duration.seconds(1)
    /// The number of entries; when it is reached, all are forgotten.
    private static let limit = 256

    private var ends: [Key: Duration] = [:]

    /// Whether a service was missing a moment before `now`.
    func contains(_ service: String, in network: NetworkId, at now: Duration) -> Bool {
        ends[Key(network: network, service: service)].map { $0 > now } ?? false
    }

    /// Adds a service that was missing at `now`.
    mutating func add(_ service: String, in network: NetworkId, at now: Duration) {
        if ends.count >= Self.limit { ends.removeAll() }
        ends[Key(network: network, service: service)] = now + Self.lifetime
    }
}
