internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService

/// The questions about offered files, one after the other.
///
/// An offer that ends takes its question away; other lines are printed while a question is open.
final class OfferDialogue: Sendable {
    private struct State: Sendable {
        /// The end of each offer without an answer, until it is asked and answered.
        var ends: [Int: Promise<OfferEndedReport>] = [:]
        /// The question that is open.
        var question: String?
    }

    private let state = Locked(State())
    // The node limits the offers that wait.
    private let (offers, queue) = AsyncStream.makeStream(of: FileOfferReport.self)

    /// Asks the person when the questions before it have ended.
    func ask(_ offer: FileOfferReport) {
        state.withLock { $0.ends[offer.number] = Promise() }
        queue.yield(offer)
    }

    /// Takes the question of an offer away.
    func end(_ report: OfferEndedReport) { state.withLock { $0.ends[report.number] }?.fulfil(report) }

    /// Prints lines above the open question, if there is one.
    func aroundQuestion(_ body: () throws -> Void) throws {
        guard Output.errorsAreTerminal, let question = state.withLock({ $0.question }) else { return try body() }
        Output.status("")
        try body()
        Output.status(question)
    }

    /// Asks until the task is cancelled.
    func run(_ session: Session) async {
        for await offer in offers {
            await answer(offer, session)
            state.withLock { _ = $0.ends.removeValue(forKey: offer.number) }
        }
    }

    private func answer(_ offer: FileOfferReport, _ session: Session) async {
        guard let end = state.withLock({ $0.ends[offer.number] }) else { return }
        if let report = end.value { return Output.note(Self.line(report, offer)) }
        let directory = FileManager.default.currentDirectoryPath
        let question = Self.question(offer, directory)
        state.withLock { $0.question = "\(question) (y/n) " }
        defer { state.withLock { $0.question = nil } }
        do {
            guard let isAccepted = try await isAccepted(question, until: end) else {
                if let report = end.value { Output.note(Self.line(report, offer)) }
                return
            }
            _ = try await session.send(
                Operations.answerOffer(
                    RequestNumber(offer.number),
                    OfferForm(directory: isAccepted ? directory : nil)
                )
            )
        } catch {
            let failure = CommandFailure(ofCommand: error)
            // An interruption ends the whole command.
            if failure.status != .interrupted { Output.note(Output.failurePrefix + failure.message) }
        }
    }

    /// Returns the person's answer; nil when the offer ended before.
    private func isAccepted(_ question: String, until end: Promise<OfferEndedReport>) async throws -> Bool? {
        try await withThrowingTaskGroup(of: Bool?.self) { group in
            group.addTask { try await Prompt.accepts(question, otherwise: "") }
            group.addTask {
                _ = try await end.wait()
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// The question about an offer, with the time for its answer.
    static func question(_ offer: FileOfferReport, _ directory: String) -> String {
        let size = ByteCountText.text(of: Double(offer.bytes))
        let time = DurationText.text(of: .seconds(offer.answerSeconds))
        let what = "\(PeerId.typed(offer.peerId)) offers \(offer.name) (\(size))"
        return "\(what). Save it in \(directory)? Answer within \(time)."
    }

    /// The line after a question that ended without an answer.
    static func line(_ report: OfferEndedReport, _ offer: FileOfferReport) -> String {
        report.isWithdrawn
            ? "\(PeerId.typed(offer.peerId)) no longer offers \(offer.name)"
            : "\(offer.name) was not taken: the time for the answer has passed"
    }
}
