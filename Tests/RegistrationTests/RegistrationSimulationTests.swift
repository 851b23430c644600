internal import Testing

@testable internal import Registration

/// Registrations over a network that loses and delays, by a person who chooses at random, in processes that end at any time.
///
/// The seed is the argument.
@Suite("Simulated registrations") struct RegistrationSimulationTests {
    @Test(arguments: UInt64(1)...400)
    func `one person gets one account, whatever is lost, and completes the registration at last`(seed: UInt64) throws {
        var person = try SimulatedPerson(seed: seed)
        for _ in 0..<Int(20 + seed % 120) { try person.step() }
        person.isCalm = true
        var tries = 0
        while tries < 40 {
            if case .done(let account) = person.flow.state, person.flow.problem == nil {
                #expect(account.did == person.did, "seed \(seed)")
                #expect(person.server.account(of: person.did)?.names == account, "seed \(seed)")
                #expect(person.server.sessions.contains(person.token ?? ""), "seed \(seed)")
                #expect(person.profile?.account == account, "seed \(seed)")
                #expect(!person.isOffline, "seed \(seed)")
                return
            }
            tries += 1
            try person.settle()
        }
        Issue.record("seed \(seed) ended in \(person.flow.state) with \(person.flow.problem as Any)")
    }
}
