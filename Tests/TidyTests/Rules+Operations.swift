extension Rules {
    /// Returns the operations of the API that are not served exactly once.
    ///
    /// The client and the description are made from the same constants, so an operation that is not served would be
    /// found by its first caller only.
    static func operationFindings(_ sources: [SourceText]) -> [String] {
        var (declared, served): ([String: Int], [String: Int]) = ([:], [:])
        for source in sources {
            let code = source.code.joined(separator: "\n")
            for match in code.matches(of: /static let (\w+) = Operation</) { declared["\(match.1)", default: 0] += 1 }
            let servers = /\b(?:serve|serveAction|stream|streamUpdates|respond)\((?:to: )?Operations\.(\w+)/
            for match in code.matches(of: servers) { served["\(match.1)", default: 0] += 1 }
        }
        let unserved = declared.keys.filter { served[$0] != 1 }.map { "\($0) is served \(served[$0] ?? 0) times" }
        return unserved.sorted() + (declared.isEmpty ? ["no operation is declared"] : [])
    }
}
