extension Rules {
    /// Returns the operations of the APIs that are not served exactly once.
    ///
    /// The client and the description are made from the same constants, so an operation that is not served would be
    /// found by its first caller only. Two servers may each have a constant of one name.
    static func operationFindings(_ sources: [SourceText]) -> [String] {
        var (declared, served): ([String: Int], [String: Int]) = ([:], [:])
        for source in sources {
            let code = source.code.joined(separator: "\n")
            for match in code.matches(of: /static let (\w+) = (?:Operation|Endpoint)</) {
                declared["\(match.1)", default: 0] += 1
            }
            // By a function of the server, such as that of `NodeAPI`, or by the endpoint itself.
            let servers = /\b(?:serve|serveAction|stream|streamUpdates|respond)\((?:to: )?Operations\.(\w+)/
            for match in code.matches(of: servers) { served["\(match.1)", default: 0] += 1 }
            for match in code.matches(of: /\b\w+\.(\w+)\.(?:serve|serveAction|respond)\b/) {
                served["\(match.1)", default: 0] += 1
            }
        }
        let unserved = declared.filter { served[$0.key] != $0.value }.keys
        return unserved.map { "\($0) is served \(served[$0] ?? 0) times" }.sorted()
            + (declared.isEmpty ? ["no operation is declared"] : [])
    }
}
