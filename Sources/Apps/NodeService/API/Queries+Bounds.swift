internal import APIDescription
internal import HTTPAPI
internal import NodeModel

// The bounds of queries.

extension LogQuery {
    /// - Throws: ``RouteFailure``.
    func checked() throws -> LogRing.Query {
        LogRing.Query(self, limit: try RouteRequest.number(limit, "limit", in: 1...LogRing.limit) ?? LogRing.limit)
    }
}

extension ThoughtsQuery {
    /// - Throws: ``RouteFailure``.
    func checked() throws -> Self {
        _ = try RouteRequest.number(limit, "limit", in: 1...1_000)
        return self
    }
}

extension PageQuery {
    /// - Throws: ``RouteFailure``.
    func page() throws -> Page {
        Page(
            offset: try RouteRequest.number(offset, "offset", in: 0...10_000_000) ?? 0,
            limit: try RouteRequest.number(limit, "limit", in: 1...1_000_000),
            search: search.flatMap(Search.init)
        )
    }
}
