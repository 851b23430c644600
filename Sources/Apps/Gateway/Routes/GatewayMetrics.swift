internal import CoreMetrics
internal import GatewayStore
internal import MetricsText

/// The measurements of a gateway, in the text format of Prometheus; none of them is about one client.
struct GatewayMetrics: Sendable {
    static let contentType = MetricsRegistry.contentType

    private let registry = MetricsRegistry(explanations: [
        "gateway_redemptions_total": "Tokens that were redeemed since the start.",
        "gateway_refusals_total": "Requests that were refused or failed since the start, by code.",
        "gateway_leases": "Leases that have not ended.",
        "gateway_load_percent": "The load in percent.",
        "gateway_traffic_bytes": "Bytes of all clients since the start.",
    ])
    let redemptions: Counter

    init() { redemptions = Counter(label: "gateway_redemptions_total", factory: registry) }

    /// Counts a refusal; codes are the gateway's own, so their number is bounded.
    func countRefusal(_ code: String) {
        Counter(label: "gateway_refusals_total", dimensions: [("code", code)], factory: registry).increment()
    }

    /// - Throws: ``GatewayStoreError/storage(_:)``.
    func text(_ leases: LeaseKeeper) async throws -> String {
        Gauge(label: "gateway_leases", factory: registry).record(try await leases.store.leaseCount())
        Gauge(label: "gateway_load_percent", factory: registry).record(leases.load)
        Gauge(label: "gateway_traffic_bytes", factory: registry).record(leases.traffic)
        return registry.text()
    }
}
