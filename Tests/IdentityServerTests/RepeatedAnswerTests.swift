internal import Concurrency
internal import Dispatch
internal import HTTPAPI
internal import TestSupport
internal import Testing

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Answers to a challenge that arrive twice", .aside) struct RepeatedAnswerTests {
    /// Sends an answer, and sends it again in full when the first request reads the time for the `reading`-th time.
    ///
    /// - Returns: The codes of both refusals, nil for an answer that counted; nil if the first request ended before.
    private func send(
        again reading: Int,
        _ send: @escaping @Sendable () async -> String?
    ) async -> (first: String?, second: String?)? {
        let second = Locked<String??>(nil)
        let sendAgain: @Sendable () -> Void = {
            let hasEnded = DispatchSemaphore(value: 0)
            Task {
                let code = await send()
                second.withLock { $0 = .some(code) }
                hasEnded.signal()
            }
            hasEnded.wait()
        }
        let (first, _) = await Scene.run(interruptedAt: reading, by: sendAgain, send)
        return second.withLock { $0 }.map { (first, $0) }
    }

    @Test(arguments: [Challenge.Purpose.authenticate, .discover])
    func `one sign-in counts, and the other one is refused for its challenge`(purpose: Challenge.Purpose) async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        var winners: Set<String> = []
        for reading in 1... {
            let challenge = scene.service.issue(purpose, for: AccountService.context(alice.handle))
            let answer = try alice.answer(challenge.bytes)
            let codes = await send(again: reading) {
                await refusal {
                    _ = try await scene.service.finishAuthentication(answer, from: Scene.client)
                }?.code
            }
            guard let codes else { break }
            switch codes {
            case (nil, "challenge-used"): winners.insert("first")
            case ("challenge-used", nil): winners.insert("second")
            default: Issue.record("at reading \(reading): \(codes)")
            }
        }
        #expect(winners == ["first", "second"])
    }
}
