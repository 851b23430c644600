/// Whole networks of nodes in one thread, on a clock and a network that a seed decides.
///
/// Each node is the very value (`NodeCore`) that runs over sockets; here its inputs come from a queue of events, and the
/// time jumps from one to the next. A run depends on its scenario, its number of nodes and its seed alone: the same three
/// give the same ``SimulationReport/digest`` in every process, in debug and in release.
///
/// ```swift
/// let report = try Simulation(.named("revocation"), seed: 7).run()
/// print(report.figures["revocationKnownP99Milliseconds"] ?? 0)
/// ```
///
/// **Modelled:** latency of each pair of nodes, jitter, asymmetric pairs; partitions, also in one direction; connections
/// that deliver in order or break, where loss shows as the delay of probe timeouts; frames that a node sends at one
/// moment, which travel in one packet as far as they fit; the round trips of TLS and of the hello; dials that time out;
/// requests about one-time keys, which are lost, overtake each other and arrive twice; nodes that come, leave with or
/// without a graceful shutdown and come back with their id and disk; wall clocks that are wrong or jump.
///
/// **Not modelled:** bandwidth, congestion, queues and the size of packets; the time that nodes compute; NATs and
/// firewalls; connection migration; the acknowledgements and keep-alives of QUIC, which are in no count of messages or
/// bytes; streams of messages and files other than those requests; a stateless reset from the host of a process that is
/// gone (its peers wait for the idle timeout); disks that fail; homes and receipts of mail. What was under way when a
/// partition begins still arrives. Signatures are keyed hashes unless the scenario asks for real ones.
public struct Simulation: Sendable {
    /// The scenario that is simulated.
    public let scenario: Scenario
    /// The seed of everything that the scenario leaves to chance.
    public let seed: UInt64

    /// The number of events between two progress reports.
    private static let eventsPerReport = 4096

    /// Prepares a run of `scenario`, with another number of nodes if one is given.
    ///
    /// - Throws: ``ScenarioError/nodeCount(_:allowed:)``.
    public init(_ scenario: Scenario, seed: UInt64 = 1, nodeCount: Int? = nil) throws(ScenarioError) {
        var scenario = scenario
        if let nodeCount {
            let allowed = 1...Scenario.nodeLimit
            guard allowed.contains(nodeCount) else { throw .nodeCount(nodeCount, allowed: allowed) }
            scenario.nodeCount = nodeCount
        }
        self.scenario = scenario
        self.seed = seed
    }

    /// Runs to the end and reports; whatever `progress` throws ends the run.
    public func run(progress: (SimulationProgress) throws -> Void = { _ in }) throws -> SimulationReport {
        let clock = ContinuousClock()
        let start = clock.now
        let end = scenario.duration.nanoseconds
        var world = try World(scenario, seed: seed)
        while true {
            var isGoingOn = true
            for _ in 0..<Self.eventsPerReport where isGoingOn { isGoingOn = try world.advance(until: end) }
            let elapsed = start.duration(to: clock.now)
            let virtual = Duration.nanoseconds(world.queue.now)
            try progress(SimulationProgress(virtual: virtual, total: scenario.duration, elapsed: elapsed))
            guard isGoingOn else { return SimulationReport(world, seed: seed, elapsed: elapsed) }
        }
    }
}

/// The progress of a run.
public struct SimulationProgress: Sendable, Hashable {
    /// The virtual time that has passed.
    public let virtual: Duration
    /// The virtual time of the whole run.
    public let total: Duration
    /// The real time that it took so far.
    public let elapsed: Duration
}
