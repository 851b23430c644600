internal import ArgumentParser
internal import Bytes
internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService
internal import Simulation

/// Runs a network of many nodes in one process, on a clock and a network that a seed decides.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate a network of many nodes, the same way for the same seed.",
        discussion: """
            A scenario defines the nodes, the network between them, the events and the expected results; `--list` \
            shows the built-in ones, and docs/simulation.md explains the files. Two runs with the same digest had the \
            same events. Ends with exit code 70 when a result is not the expected one. Needs no home and uses no \
            network.
            """
    )

    @Argument(help: "The name of a scenario, or the path of a JSON file.", completion: .file())
    var scenario: String?
    @Option(help: "The seed of all random choices.")
    var seed: UInt64 = 1
    @Option(help: "The number of nodes, instead of the scenario's.")
    var nodes: Int?
    @Flag(help: "List the scenarios instead of running one.")
    var list = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (scenario == nil) == list else {
            throw ValidationError("give the name of a scenario or the path of a file, or --list for the names")
        }
    }

    func run() async throws {
        guard let scenario else { return try Output.report(ScenarioList(Scenario.library), asJSON: output.json) }
        let simulation = try Simulation(Self.scenario(scenario), seed: seed, nodeCount: nodes)
        let line = output.json ? ProgressLine(isShown: false) : ProgressLine()
        let report = try await Interruption.run {
            defer { line.finish() }
            return try simulation.run { progress in
                try Task.checkCancellation()
                line.show(progress.text(of: simulation.scenario.name))
            }
        }
        guard let report else { throw CommandFailure.interrupted("the simulation was interrupted") }
        try Output.report(report, asJSON: output.json)
        if !report.ok { throw ExitCode(ExitStatus.software.rawValue) }
    }

    /// The scenario of that name, or the one in the file at that path.
    private static func scenario(_ name: String) throws -> Scenario {
        guard name.contains("/") || name.hasSuffix(".json") else { return try Scenario.named(name) }
        return try Scenario(json: InputText.bytes(name, limit: Scenario.byteLimit))
    }
}

/// The scenarios of the program.
struct ScenarioList: Report {
    struct Entry: Codable {
        let name: String
        let summary: String
        let nodes: Int
        let duration: String
    }

    let scenarios: [Entry]

    init(_ scenarios: [Scenario]) {
        self.scenarios = scenarios.map {
            Entry(name: $0.name, summary: $0.summary, nodes: $0.nodeCount, duration: DurationText.text(of: $0.duration))
        }
    }

    var lines: [String] {
        let width = scenarios.map(\.name.count).max() ?? 0
        return scenarios.map { scenario in
            let name = scenario.name.padded(to: width)
            return "\(name)  \(scenario.summary) (\(scenario.nodes) nodes, \(scenario.duration))"
        }
    }
}

extension SimulationProgress {
    fileprivate func text(of scenario: String) -> String {
        let percent = total > .zero ? Int(virtual / total * 100) : 100
        let speed = Int(virtual.seconds / max(elapsed.seconds, 0.001))
        return "\(scenario): \(percent)% of \(DurationText.text(of: total)), \(speed) times as fast as real time"
    }
}

extension SimulationReport: Report {
    var lines: [String] {
        let speed = Int(virtualSeconds / max(realSeconds, 0.001))
        var lines = [
            "\(scenario): \(nodes) nodes, seed \(seed)",
            "digest \(digest)",
            "\(Self.text(virtualSeconds)) s in \(Self.text(realSeconds)) s, \(speed) times as fast as real time",
            "\(messages) messages, \(bytes) bytes",
        ]
        let width = figures.keys.map(\.count).max() ?? 0
        for (name, value) in figures.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(name.padded(to: width))  \(Self.text(value))")
        }
        for expectation in expectations {
            let found = expectation.value.map(Self.text) ?? "no such figure"
            let bound = "\(expectation.figure) \(expectation.relation) \(Self.text(expectation.bound))"
            lines.append("\(expectation.isMet ? "met" : "MISSED"): \(bound) (\(found))")
        }
        return lines
    }

    /// At most three digits after the point.
    private static func text(_ value: Double) -> String {
        let rounded = (value * 1000).rounded() / 1000
        return rounded == rounded.rounded() && abs(rounded) < 1e15 ? String(Int64(rounded)) : String(rounded)
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
