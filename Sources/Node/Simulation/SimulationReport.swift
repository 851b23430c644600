/// The results of a run.
public struct SimulationReport: Sendable, Codable, Hashable {
    /// The number of frames of a kind that were sent, and their bytes without the packets around them.
    public struct Traffic: Sendable, Codable, Hashable {
        /// The number of frames.
        public let messages: Int
        /// The number of their bytes together.
        public let bytes: Int
    }

    /// A bound of the scenario and whether it was kept.
    public struct Expectation: Sendable, Codable, Hashable {
        /// The name of the figure.
        public let figure: String
        /// `atMost`, `atLeast` or `equal`.
        public let relation: String
        /// The bound.
        public let bound: Double
        /// The value of the figure; nil if the run has no such figure.
        public let value: Double?
        /// Whether the bound was kept.
        public let isMet: Bool
    }

    /// The name of the scenario.
    public let scenario: String
    /// The seed of the run.
    public let seed: UInt64
    /// The number of nodes at the beginning.
    public let nodes: Int
    /// Equal for two runs exactly if the same happened in the same order.
    public let digest: String
    /// The time that passed for the nodes.
    public let virtualSeconds: Double
    /// The time that the run took.
    public let realSeconds: Double
    /// Frames of all kinds.
    public let messages: Int
    /// Bytes of all frames.
    public let bytes: Int
    /// Frames by the type byte that the specifications give them.
    public let traffic: [String: Traffic]
    /// The measured figures; the unit is last in each name.
    public let figures: [String: Double]
    /// The expectations of the scenario.
    public let expectations: [Expectation]
    /// Whether every expectation was met.
    public let ok: Bool

    init(_ world: World, seed: UInt64, elapsed: Duration) {
        let figures = world.figures.values
        let total = world.record.traffic.total
        scenario = world.scenario.name
        self.seed = seed
        nodes = world.scenario.nodeCount
        digest = world.record.digest.text
        virtualSeconds = Duration.milliseconds(ofNanoseconds: world.queue.now) / 1000
        realSeconds = Duration.milliseconds(ofNanoseconds: elapsed.nanoseconds) / 1000
        messages = total.messages
        bytes = total.bytes
        traffic = Dictionary(
            uniqueKeysWithValues: world.record.traffic.byKind.map { kind, count in
                (String(kind), Traffic(messages: count.messages, bytes: count.bytes))
            }
        )
        self.figures = figures
        expectations = world.scenario.expectations.map { wanted in
            let value = figures[wanted.figure]
            return Expectation(
                figure: wanted.figure,
                relation: wanted.relation.rawValue,
                bound: wanted.bound,
                value: value,
                isMet: value.map { wanted.isMet(by: $0) } ?? false
            )
        }
        ok = expectations.allSatisfy(\.isMet)
    }
}
