internal import Transport

/// A violation of the contract of every transport.
package struct ConformanceFailure: Error, CustomStringConvertible {
    /// The claim that failed, and the observed value.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Throws unless `condition` holds.
func check(_ condition: Bool, _ claim: @autoclosure () -> String) throws {
    if !condition { throw ConformanceFailure(claim()) }
}

/// Throws unless both are equal.
func checkEqual<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
    try check(found == expected, "\(what): expected \(expected), found \(found)")
}

/// Returns the value, or throws if there is none.
func required<Value>(_ value: Value?, _ claim: String) throws -> Value {
    guard let value else { throw ConformanceFailure(claim) }
    return value
}

/// Returns the error of the transport that `body` throws; anything else is a failure.
func failure<Outcome>(of what: String, _ body: () async throws -> Outcome) async throws -> TransportError {
    let outcome: Outcome
    do {
        outcome = try await body()
    } catch let error as TransportError {
        return error
    }
    throw ConformanceFailure("\(what) succeeded with \(outcome)")
}

/// Throws unless `body` throws `CancellationError`.
func checkCancelled<Outcome: Sendable>(_ task: Task<Outcome, any Error>, _ what: String) async throws {
    switch await task.result {
    case .success(let outcome): throw ConformanceFailure("\(what) returned \(outcome) although it was cancelled")
    case .failure(is CancellationError): return
    case .failure(let error): throw ConformanceFailure("\(what) threw \(error) although it was cancelled")
    }
}

/// Throws unless `error` is the end of a connection by `code`.
func checkClosed(_ error: TransportError, code: UInt64, _ what: String) throws {
    guard case .closed(code, _) = error else {
        throw ConformanceFailure("\(what): expected the end with code \(code), found \(error)")
    }
}
