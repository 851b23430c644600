internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService

/// A command that asks the node of a home for one report and prints it.
protocol ReportingCommand: AsyncParsableCommand {
    associatedtype Answer: Report

    var home: HomeOptions { get }

    /// Checks or confirms the conditions of the request; by default nothing.
    func prepare() async throws

    /// Returns the request for the report.
    func request() async throws -> APIRequest<Answer>

    /// Prints the report; by default as ``Output/report(_:asJSON:)`` does.
    func show(_ report: Answer) throws
}

extension ReportingCommand {
    func prepare() async throws {}

    func show(_ report: Answer) throws { try Output.report(report, asJSON: home.output.json) }

    func run() async throws { try await run(with: nil, onNetwork: false) }

    fileprivate func run(with node: NodeOptions?, onNetwork: Bool) async throws {
        try await prepare()
        let request = try await request()
        let report = try await Session.answer(to: request, home, node, onNetwork: onNetwork)
        try show(report)
    }
}

/// A reporting command that starts a node for its duration if none runs.
protocol NetworkCommand: ReportingCommand {
    var node: NodeOptions { get }
}

extension NetworkCommand {
    func run() async throws { try await run(with: node, onNetwork: true) }
}
