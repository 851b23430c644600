internal import NodeService

extension Session {
    /// Asks for the newest thoughts of a conversation; a search goes on until it is complete or the limit is reached.
    ///
    /// - Throws: ``CommandFailure``.
    func thoughts(
        in conversation: ConversationName,
        before number: UInt64? = nil,
        limit: Int,
        search: String? = nil
    ) async throws -> ThoughtsReport {
        var report = try await send(.thoughts(in: conversation, before: number, limit: limit, search: search))
        while let searchedTo = report.searchedTo, report.thoughts.count < limit {
            let rest = limit - report.thoughts.count
            let older = try await send(.thoughts(in: conversation, before: searchedTo, limit: rest, search: search))
            report.append(older)
        }
        return report
    }
}
