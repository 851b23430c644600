internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService

/// The result of the demo.
struct DemoReport: Report {
    /// One thing that was shown and checked.
    struct Step: Codable, Hashable, Sendable {
        let name: String
        let ok: Bool
        let milliseconds: Int
        let detail: String
    }

    let ok: Bool
    let steps: [Step]
    /// The reason why the private exit was not shown, with the next step; nil if it was, or an earlier step failed.
    let exitSkipped: String?

    var lines: [String] {
        steps.map { "\($0.ok ? "ok" : "FAILED")  \($0.name): \($0.detail)" }
            + (exitSkipped.map { ["skipped  the private exit: \($0)"] } ?? [])
    }
}

/// Shows the demo's steps to a person while they happen.
struct DemoScreen: Sendable {
    private static let nameWidth = 34

    let isSilent: Bool
    private let hasColours = Output.isTerminal

    init(isSilent: Bool) {
        self.isSilent = isSilent
    }

    func headline(_ text: String) {
        if !isSilent { try? Output.line(text) }  // a failure ends the demo by itself
    }

    func show(_ step: DemoReport.Step) {
        guard !isSilent else { return }
        let mark = step.ok ? coloured("✔", "32") : coloured("✘", "31")
        let time = "\(step.milliseconds) ms".leftPadding(to: 9)
        let line = " \(step.name.padding(to: Self.nameWidth))\(time)  \(step.detail)"
        try? Output.styled([(mark, true), (line, false)])  // the same
    }

    private func coloured(_ text: String, _ colour: String) -> String {
        hasColours ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
    }
}
