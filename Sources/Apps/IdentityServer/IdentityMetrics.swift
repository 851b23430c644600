internal import CoreMetrics
internal import IdentityStore
internal import MetricsText

/// The measurements of the identity server, in the text format of Prometheus.
struct IdentityMetrics: Sendable {
    static let contentType = MetricsRegistry.contentType

    private let registry = MetricsRegistry(explanations: [
        "identity_registrations_total": "Accounts that were registered since the start.",
        "identity_sign_ins_total": "Sign-ins since the start.",
        "identity_refusals_total": "Requests that were refused or failed since the start, by code.",
        "identity_accounts": "Accounts.",
        "identity_passkeys": "Passkeys.",
        "identity_sessions": "Sessions that have not been removed.",
    ])
    let registrations: Counter
    let signIns: Counter

    init() {
        registrations = Counter(label: "identity_registrations_total", factory: registry)
        signIns = Counter(label: "identity_sign_ins_total", factory: registry)
    }

    /// Counts a refusal; codes are the server's own, so their number is bounded.
    func countRefusal(_ code: String) {
        Counter(label: "identity_refusals_total", dimensions: [("code", code)], factory: registry).increment()
    }

    /// - Throws: ``IdentityStoreError/storage(_:)``.
    func text(_ service: AccountService) async throws -> String {
        let totals = try await service.store.totals()
        Gauge(label: "identity_accounts", factory: registry).record(totals.accounts)
        Gauge(label: "identity_passkeys", factory: registry).record(totals.credentials)
        Gauge(label: "identity_sessions", factory: registry).record(totals.sessions)
        return registry.text()
    }
}
