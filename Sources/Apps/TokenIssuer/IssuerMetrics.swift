internal import Concurrency
internal import CoreMetrics
internal import MetricsText

/// The measurements of a token issuer, in the text format of Prometheus, and the counts of its audit.
///
/// Both are numbers of the whole server: no label names a source, a voucher or a key.
struct IssuerMetrics: Sendable {
    static let contentType = MetricsRegistry.contentType

    /// The numbers of events since the last report.
    struct Counts: Equatable, Sendable {
        var tokens = 0
        var requests = 0
        var entitlements = 0
        var refusals: [String: Int] = [:]

        /// The counts in a line of the log.
        var line: String {
            let refused = refusals.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            let words = refused.isEmpty ? "none" : refused.joined(separator: ", ")
            return "\(tokens) tokens in \(requests) requests, \(entitlements) vouchers for purchases, refused: \(words)"
        }
    }

    private let registry = MetricsRegistry(explanations: [
        "issuer_tokens_total": "Tokens that were signed since the start.",
        "issuer_requests_total": "Token requests that were answered since the start; a batch is one.",
        "issuer_entitlements_total": "Vouchers that were made for purchases since the start.",
        "issuer_refusals_total": "Requests that were refused or failed since the start, by code.",
        "issuer_waiting_signatures": "Signatures that are admitted and not made.",
    ])
    private let tokens: Counter
    private let requests: Counter
    private let entitlements: Counter
    private let counts = Locked(Counts())

    init() {
        tokens = Counter(label: "issuer_tokens_total", factory: registry)
        requests = Counter(label: "issuer_requests_total", factory: registry)
        entitlements = Counter(label: "issuer_entitlements_total", factory: registry)
    }

    func countTokens(_ count: Int) {
        tokens.increment(by: count)
        requests.increment()
        counts.withLock {
            $0.tokens += count
            $0.requests += 1
        }
    }

    func countEntitlement() {
        entitlements.increment()
        counts.withLock { $0.entitlements += 1 }
    }

    /// Counts a refusal; codes are the server's own, so their number is bounded.
    func countRefusal(_ code: String) {
        Counter(label: "issuer_refusals_total", dimensions: [("code", code)], factory: registry).increment()
        counts.withLock { $0.refusals[code, default: 0] += 1 }
    }

    /// Returns the counts since the last call; nil if nothing happened.
    func takeCounts() -> Counts? {
        counts.withLock { counts in
            defer { counts = Counts() }
            return counts == Counts() ? nil : counts
        }
    }

    func text(waiting: Int) -> String {
        Gauge(label: "issuer_waiting_signatures", factory: registry).record(waiting)
        return registry.text()
    }
}
