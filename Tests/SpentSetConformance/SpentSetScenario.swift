package import GatewayStore
package import Identity

/// A store of spent tokens for the scenarios: empty, and opened as often as they ask.
package struct SpentSetKit: Sendable {
    /// Opens the storage, which is empty at the first call, as a further process would.
    package let open: @Sendable () async throws -> any SpentSet
    /// Ends all uses of the storage, as the end of their processes does.
    package let closeAll: @Sendable () async throws -> Void

    package init(
        open: @escaping @Sendable () async throws -> any SpentSet,
        closeAll: @escaping @Sendable () async throws -> Void
    ) {
        self.open = open
        self.closeAll = closeAll
    }
}

/// One promise of ``SpentSet``, with the steps that show whether an implementation keeps it.
package struct SpentSetScenario: Sendable, CustomStringConvertible {
    /// The promise.
    package let name: String
    private let body: @Sendable (SpentSetKit) async throws -> Void

    private init(_ name: String, _ body: @escaping @Sendable (SpentSetKit) async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// The promise, as a test runner shows it.
    package var description: String { name }

    /// Runs the steps on an empty storage; returns if the promise is kept.
    package func run(on kit: SpentSetKit) async throws {
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(kit))
        } catch {
            outcome = .failure(error)
        }
        try await kit.closeAll()
        try outcome.get()
    }

    /// Every promise.
    package static let all = [sequential, epochs, concurrent, instances, restart, end, endedEpoch]

    private static let sequential = SpentSetScenario("a token is spent once") { kit in
        let set = try await kit.open()
        for number in 0..<20 {
            try check(try await set.spend(token(number), epoch: 7), is: .first, "token \(number)")
        }
        for number in 0..<20 {
            try check(try await set.spend(token(number), epoch: 7), is: .already, "token \(number) again")
        }
    }

    private static let epochs = SpentSetScenario("the epochs of a set are independent") { kit in
        let set = try await kit.open()
        try check(try await set.spend(token(1), epoch: 7), is: .first, "a token of epoch 7")
        try check(try await set.spend(token(1), epoch: 8), is: .first, "equal bytes in epoch 8")
        try check(try await set.spend(token(1), epoch: 8), is: .already, "equal bytes in epoch 8 again")
    }

    private static let concurrent = SpentSetScenario("of concurrent calls for one token, one is the first") { kit in
        let set = try await kit.open()
        for number in 0..<20 {
            try await race(over: [set], token(number), callsEach: 8)
        }
    }

    private static let instances = SpentSetScenario("of two openings of one storage, one is the first") { kit in
        let sets = [try await kit.open(), try await kit.open()]
        for number in 0..<20 {
            try await race(over: sets, token(number), callsEach: 2)
        }
    }

    private static let restart = SpentSetScenario("a token stays spent after a restart") { kit in
        let set = try await kit.open()
        for number in 0..<10 { try check(try await set.spend(token(number), epoch: 7), is: .first, "token \(number)") }
        try await kit.closeAll()
        let again = try await kit.open()
        for number in 0..<10 {
            try check(try await again.spend(token(number), epoch: 7), is: .already, "token \(number) after a restart")
        }
        try check(try await again.spend(token(10), epoch: 7), is: .first, "a further token")
    }

    private static let end = SpentSetScenario("the end of an epoch keeps the tokens of later ones") { kit in
        let set = try await kit.open()
        for number in 0..<1_200 { try check(try await set.spend(token(number), epoch: 7), is: .first, "of epoch 7") }
        try check(try await set.spend(token(0), epoch: 8), is: .first, "of epoch 8")
        try await set.endEpochs(before: 8)
        try check(try await set.spend(token(0), epoch: 8), is: .already, "of epoch 8 again")
        try check(try await set.spend(token(1), epoch: 8), is: .first, "another one of epoch 8")
    }

    private static let endedEpoch = SpentSetScenario("a token of an ended epoch cannot be spent again") { kit in
        let set = try await kit.open()
        try check(try await set.spend(token(0), epoch: 7), is: .first, "of epoch 7")
        try await set.endEpochs(before: 8)
        // An earlier end does not reopen an epoch.
        try await set.endEpochs(before: 5)
        for number in 0..<2 {
            let outcome: Result<SpendOutcome, GatewayStoreError>
            do throws(GatewayStoreError) {
                outcome = .success(try await set.spend(token(number), epoch: 7))
            } catch {
                outcome = .failure(error)
            }
            guard outcome == .failure(.epochEnded(7)) else {
                throw SpentSetFailure("epoch 7 has ended, and the outcome is \(outcome)")
            }
        }
    }
}

/// A violation of the contract of every spent set.
package struct SpentSetFailure: Error, CustomStringConvertible {
    /// The claim that failed, and the observed value.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The digest of the token number `number` of the scenarios.
package func token(_ number: Int) -> Bytes32 { Bytes32(sha256: Array("token \(number)".utf8)) }

private func check(_ found: SpendOutcome, is expected: SpendOutcome, _ what: String) throws {
    guard found == expected else { throw SpentSetFailure("\(what): expected \(expected), found \(found)") }
}

/// Spends one token from several tasks and throws unless exactly one is the first.
private func race(over sets: [any SpentSet], _ token: Bytes32, callsEach: Int) async throws {
    let firsts = try await withThrowingTaskGroup(of: SpendOutcome.self) { group in
        for _ in 0..<callsEach {
            for set in sets { group.addTask { try await set.spend(token, epoch: 7) } }
        }
        return try await group.reduce(0) { $1 == .first ? $0 + 1 : $0 }
    }
    guard firsts == 1 else { throw SpentSetFailure("\(firsts) of \(callsEach * sets.count) calls were the first") }
}
