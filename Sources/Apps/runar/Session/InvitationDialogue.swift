internal import CommandKit
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform

/// Shows an invitation and its remaining time to the inviter's person, and asks about each joiner.
struct InvitationDialogue: Sendable {
    let asJSON: Bool
    /// Whether the invitation is shown as a code, too.
    let showsCode: Bool

    /// Sends the request and returns the admitted joiner.
    ///
    /// - Throws: ``CommandFailure`` when no joiner was admitted; `CancellationError`.
    func run(_ request: APIRequest<AdmissionReport>, _ session: Session) async throws -> AdmissionReport {
        let (questions, queue) = AsyncStream.makeStream(of: JoinRequestReport.self)
        let countdown = Countdown()
        defer { countdown.finish() }
        return try await withThrowingTaskGroup(of: AdmissionReport?.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                try await session.send(request) { update in
                    try show(update, countdown)
                    if case .joinRequested(let question) = update, !question.isPreallowed { queue.yield(question) }
                }
            }
            group.addTask {
                for await question in questions { try await answer(question, session) }
                return nil
            }
            group.addTask {
                await countdown.run()
                return nil
            }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func show(_ update: NodeUpdate, _ countdown: Countdown) throws {
        switch update {
        case .invited(let report):
            if asJSON { return try Output.json(report) }
            if showsCode { try TerminalCode.showIfRoom(report.qrString) }
            try Output.raw(report.link + "\n")
            let name = report.name ?? "the network"
            Output.note("Scan this with the device that joins \(name), or paste the link into `runar join` there.")
            let end = LocalTime(seconds: report.expiration)
            Output.note("Every device that has the link can ask to join. It works once, until \(end).")
            if report.addresses.allSatisfy({ SocketAddress($0)?.isLoopback == true }) {
                Output.note("note: the node listens on 127.0.0.1 or ::1 only, where no other machine reaches it")
            }
            countdown.start(until: report.expiration)
        case .joinRequested(let report):
            countdown.finish()
            if asJSON { return try Output.json(report) }
            if report.isPreallowed {
                Output.note("\(PeerId.typed(report.peerId)) came with it; its screen must show \(report.digits)")
            }
        case .event(let report):
            countdown.clear()
            if asJSON { try Output.json(report) } else { Output.note(report.line) }
        default: break
        }
    }

    /// Asks the person; a no uses the invitation up.
    private func answer(_ question: JoinRequestReport, _ session: Session) async throws {
        let isAllowed: Bool
        do {
            isAllowed = try await Prompt.accepts(
                "\(PeerId.typed(question.peerId)) asks to join. Does its screen show \(question.digits) too?",
                otherwise: ""
            )
        } catch let failure as CommandFailure where failure.code != "cancelled" {
            Output.note("error: \(failure.message)")
            isAllowed = false
        }
        let decision = DecisionForm(isAllowed: isAllowed)
        _ = try await session.send(Operations.answerJoin(RequestNumber(question.number), decision))
    }
}

/// A line on the terminal's standard error with the remaining time; elsewhere it shows nothing.
private final class Countdown: Sendable {
    private let end = Locked<UInt64?>(nil)
    private let (starts, start) = AsyncStream.makeStream(of: Void.self)

    /// Begins to count.
    func start(until end: UInt64) {
        guard Output.errorsAreTerminal else { return }
        self.end.withLock { $0 = end }
        start.yield()
    }

    /// Shows the line once a second until ``finish()``.
    func run() async {
        for await _ in starts {
            while tick(), (try? await Task.sleep(for: .seconds(1))) != nil {}  // nil: cancelled
        }
    }

    private func tick() -> Bool {
        end.withLock { end in
            guard let end else { return false }
            let now = SystemProcess.wallSeconds
            let left = end > now ? end - now : 0
            Output.status("waiting; \(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60) left, Control-C ends it ")
            return true
        }
    }

    /// Makes room for another line.
    func clear() { end.withLock { if $0 != nil { Output.status("") } } }

    /// Takes the line away.
    func finish() {
        end.withLock { end in
            guard end != nil else { return }
            end = nil
            Output.status("")
        }
    }
}
