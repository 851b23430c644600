internal import CommandModel
internal import NodeModel
internal import NodeService

extension Session {
    /// Requests the newest thoughts of a conversation; a search continues until it is complete or the limit is reached.
    ///
    /// - Throws: ``CommandFailure``.
    func thoughts(
        in conversation: ConversationName,
        before number: UInt64? = nil,
        limit: Int,
        search: String? = nil
    ) async throws -> ThoughtsReport {
        let query = ThoughtsQuery(before: number, limit: limit, search: search)
        var report = try await send(Operations.thoughts(conversation, query))
        while let searchedTo = report.searchedTo, report.thoughts.count < limit {
            let rest = limit - report.thoughts.count
            let older = ThoughtsQuery(before: searchedTo, limit: rest, search: search)
            report.append(try await send(Operations.thoughts(conversation, older)))
        }
        return report
    }

    /// The waits for the first step of a delivery.
    private static let (steps, pause) = (10, Duration.milliseconds(100))

    /// Waits for the first step of a delivery, for a second at most, and returns the thought with its new state.
    ///
    /// - Throws: ``CommandFailure``; `CancellationError`.
    func firstStep(of thought: ThoughtReport, in conversation: ConversationName) async throws -> ThoughtReport {
        var thought = thought
        for _ in 0..<Self.steps where thought.isWaiting {
            try await Task.sleep(for: Self.pause)
            let newest = try await send(Operations.thoughts(conversation, ThoughtsQuery(limit: 1))).thoughts
            thought = newest.first { $0.number == thought.number } ?? thought
        }
        return thought
    }
}
