/// A simulated scenario: the nodes, the network between them, the steps and their times, and the expected results.
///
/// A scenario is a data file; `docs/simulation.md` explains its fields. Those of this library are in ``library``.
public struct Scenario: Sendable, Hashable {
    /// The most nodes of one simulation.
    public static let nodeLimit = 1_000_000

    /// The longest file of a scenario, in bytes.
    public static let byteLimit = 256 * 1024

    /// The name, in lower case with hyphens.
    public let name: String
    /// The purpose, in a sentence.
    public let summary: String
    /// The number of nodes, unless a run sets another one.
    public var nodeCount: Int
    /// The virtual time of the run.
    public internal(set) var duration: Duration

    var signatures = Signatures.hashed
    var network = NetworkModel()
    var clocks = ClockModel()
    var contacts = Contacts()
    /// Nil if all nodes are honest.
    var hostility: Hostility?
    var keptConnections: Int?
    var steps: [Step] = []
    var expectations: [Expectation] = []

    init(name: String, summary: String, nodeCount: Int, duration: Duration) {
        self.name = name
        self.summary = summary
        self.nodeCount = nodeCount
        self.duration = duration
    }
}

extension Scenario {
    /// Whether a step sends mail, so that the applications of all nodes take it.
    var sendsMail: Bool {
        steps.contains { step in
            if case .mail = step.action { true } else { false }
        }
    }

    /// Whether a step exchanges one-time keys, so that all nodes host exchanges.
    var exchangesKeys: Bool { steps.contains { $0.action == .exchangeKeys } }

    /// The signature scheme of the nodes.
    enum Signatures: String, Sendable, CaseIterable {
        /// Keyed hashes of equal length, which any node could forge: for big runs of honest nodes.
        case hashed
        /// Ed25519.
        case real
    }

    /// The clocks of nodes.
    struct ClockModel: Sendable, Hashable {
        /// The most by which a node's wall clock is wrong, evenly spread to both sides.
        var skew = Duration.zero
    }

    /// Which members a node knows by address before it is started for the first time.
    struct Contacts: Sendable, Hashable {
        enum Pattern: String, Sendable, CaseIterable {
            /// None.
            case none
            /// The nodes of the following numbers, the first one after the last one.
            case ring
            /// Any.
            case random
            /// The nodes of the lowest numbers.
            case first
        }

        var pattern = Pattern.none
        var count = 1
    }

    /// Members that speak the protocol and lie in it.
    struct Hostility: Sendable, Hashable {
        /// The share of nodes that are hostile, at random ids.
        var share = 0.0
        /// Keys around which further hostile nodes gather.
        var besiegedKeys = 0
        /// The number of hostile nodes among those nearest to such a key.
        var besiegers = 16
    }

    /// Something that is done at a moment.
    struct Step: Sendable, Hashable {
        var at: Duration
        var action: Action
    }

    /// An action of a step.
    enum Action: Sendable, Hashable {
        /// Starts nodes that never ran, one after the other, evenly spread over the time; nil is all that are left.
        case start(count: Int?, over: Duration)
        /// Cuts a share of the nodes off from the others; `isOneWay` passes the packets that they send.
        case partition(share: Double, lasting: Duration, isOneWay: Bool)
        /// The owner of the network revokes `count` nodes.
        case revoke(count: Int)
        /// Moves the wall clocks of a share of the nodes.
        case clockJump(share: Double, by: Duration, isBackwards: Bool)
        /// From now on sessions of nodes end, and others begin.
        case churn(Churn)
        /// Running nodes write records, each under a key of its own.
        case put(Work, valueByteCount: Int, lifetime: Duration)
        /// The running writers write those records again.
        case update(Work)
        /// Running nodes read records that were acknowledged.
        case get(Work, Reading)
        /// Running nodes look for the members nearest to a random place.
        case lookup(Work)
        /// Running nodes publish events, each to all others.
        case publish(Publishing)
        /// Running nodes send mails, each to a random member that may be offline.
        case mail(Work, byteCount: Int, lifetime: Duration)
        /// Each pair of connected members exchanges one-time keys.
        case exchangeKeys
        /// Running nodes send sealed messages, each to a random member that is connected.
        case seal(Work, byteCount: Int)
        /// A share of the running nodes falls silent at once.
        case silence(share: Double)
        /// Compares tables, or the places of records, with the true ones, repeatedly for a time.
        case measure(Measure, every: Duration, lasting: Duration)
    }

    /// A number of requests, evenly spread over a time, each by a random running node.
    struct Work: Sendable, Hashable {
        var count: Int
        var over: Duration
    }

    /// The way in which events are published.
    struct Publishing: Sendable, Hashable {
        var work: Work
        var byteCount: Int
        /// Whether each event comes from another node; otherwise all from one.
        var isByAnybody: Bool
        /// Whether the events only warm the network up, and count for nothing.
        var isWarmUp: Bool
    }

    /// The condition under which a read is complete.
    enum Reading: String, Sendable, CaseIterable {
        case first
        case agreeing
        case everyone
    }

    /// The state that is compared with the truth.
    enum Measure: String, Sendable, CaseIterable {
        /// Which of the nodes nearest to each node its table knows.
        case tables
        /// Which of the nodes nearest to each record hold it.
        case records
    }

    /// The sessions and absences of nodes.
    struct Churn: Sendable, Hashable {
        /// The time for which a node stays.
        var sessions: Quantiles
        /// The shortest absence of a node that returns.
        var absences: Quantiles
        /// The share of nodes that leave and return, with their id and stored data.
        var returning: Double
        /// The share of nodes that leave without a graceful shutdown.
        var abrupt: Double
        /// The duration of churn.
        var lasting: Duration
        /// Whether each node returns, or is replaced by a new one, after its own absence.
        ///
        /// Otherwise a node starts whenever another one leaves, so that the number of running nodes stays.
        var isIndependent: Bool
    }

    /// A bound for a figure of the report.
    struct Expectation: Sendable, Hashable {
        enum Relation: String, Sendable, CaseIterable {
            case atMost
            case atLeast
            case equal
        }

        var figure: String
        var relation: Relation
        var bound: Double

        func isMet(by value: Double) -> Bool {
            switch relation {
            case .atMost: value <= bound
            case .atLeast: value >= bound
            case .equal: value == bound
            }
        }
    }
}

/// A distribution of durations by some of its quantiles, straight in between.
struct Quantiles: Sendable, Hashable {
    struct Point: Sendable, Hashable {
        var share: Double
        var value: Duration
    }

    /// From the share 0 to the share 1, both ascending.
    let points: [Point]

    /// Takes points that ascend from 0 to 1; nil for others.
    init?(_ points: [Point]) {
        guard let first = points.first, let last = points.last, first.share == 0, last.share == 1,
            zip(points, points.dropFirst()).allSatisfy({ $0.share < $1.share && $0.value <= $1.value }),
            first.value >= .zero
        else { return nil }
        self.points = points
    }

    /// The value below which `share` of all lie, in nanoseconds.
    func nanoseconds(at share: Double) -> Int64 {
        for (low, high) in zip(points, points.dropFirst()) where share <= high.share {
            let part = (share - low.share) / (high.share - low.share)
            let (from, to) = (low.value.nanoseconds, high.value.nanoseconds)
            return from + Int64(part * Double(to - from))
        }
        return points.last?.value.nanoseconds ?? 0
    }
}
