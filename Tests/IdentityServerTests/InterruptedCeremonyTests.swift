internal import Bytes
internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import Testing
internal import WebAuthn

@testable internal import IdentityServer

@Suite("Ceremonies of commands that end while their page completes them") struct InterruptedCeremonyTests {
    private static let browser = AccountService.Client(address: .v4(0x0A00_0002))

    /// Completes a ceremony, which its program cancels when the request reads the time for the `reading`-th time.
    ///
    /// - Returns: The code of the refusal, "completed" without one; nil if the request ended before that reading.
    private func complete(
        _ begun: CeremonyReport,
        _ scene: Scene,
        cancelledAt reading: Int,
        _ request: @escaping @Sendable () async throws -> Void
    ) async -> String? {
        let (failure, wasInterrupted) = await Scene.run(
            interruptedAt: reading,
            by: { #expect(throws: Never.self) { try scene.service.cancelCeremony(begun.id, secret: begun.secret) } }
        ) {
            await refusal(request)
        }
        guard wasInterrupted else {
            #expect(failure == nil)
            return nil
        }
        return failure?.code ?? "completed"
    }

    @Test func `a sign-in whose ceremony was cancelled meanwhile leaves no session`() async throws {
        let scene = try Scene([.requestLimits: ["off"]])
        var alice = try await scene.register("alice")
        let userId = try #require(alice.signedIn).userId
        let sessions = try await scene.store.sessions(of: userId, at: scene.now)
        for reading in 1... {
            let form = BeginCeremonyForm(purpose: .authenticate, handle: alice.handle)
            let begun = try await scene.service.beginCeremony(form, from: Scene.client)
            let assertion = try await scene.assertion(of: &alice)
            let code = await complete(begun, scene, cancelledAt: reading) {
                try await scene.service.completeCeremony(begun.id, assertion, from: Self.browser)
            }
            guard let code else { break }
            #expect(code == "no-ceremony", "at reading \(reading)")
            let left = try await scene.store.sessions(of: userId, at: scene.now)
            #expect(left == sessions, "at reading \(reading)")
        }
        // Sessions were stored and then revoked; the last request was not interrupted.
        let revoked = try await scene.store.revocations(after: 0, limit: 100)
        #expect(!revoked.isEmpty)
        #expect(try await scene.store.sessions(of: userId, at: scene.now).count == sessions.count + 1)
    }

    @Test func `an account whose ceremony was cancelled meanwhile stays, without a session`() async throws {
        let scene = try Scene([.requestLimits: ["off"]])
        var accounts = 0
        for reading in 1... {
            var person = try Person("person-\(reading)")
            let options = try await scene.service.beginRegistration(person.handle, person.did, from: Scene.client)
            let answer = try person.answer(options)
            let form = BeginCeremonyForm(
                purpose: .register,
                handle: person.handle,
                did: person.did,
                challenge: Base64URL.encode(options.challenge),
                didProof: answer.didProof
            )
            let begun = try await scene.service.beginCeremony(form, from: Scene.client)
            let code = await complete(begun, scene, cancelledAt: reading) {
                try await scene.service.completeCeremony(begun.id, answer.response, from: Self.browser)
            }
            guard let code else { break }
            #expect(code == "no-ceremony", "at reading \(reading)")
            // The first reading is before the answer is read at all.
            guard let account = try await scene.store.account(handle: person.handle) else { continue }
            let left = try await scene.store.sessions(of: account.userId, at: scene.now)
            #expect(left.isEmpty, "at reading \(reading)")
            #expect(try await scene.signIn(&person).userId == account.userId)
            accounts += 1
        }
        #expect(accounts > 0)
    }
}
