internal import Testing

@testable internal import Node

@Suite("The timer of requests") struct RequestTimerTests {
    @Test func `the timer is armed for the earliest deadline`() {
        let timer = RequestTimer()
        #expect(timer.deadline == nil)
        timer.arm(.seconds(5))
        timer.arm(.seconds(9))
        #expect(timer.deadline == .seconds(5))
        timer.arm(.seconds(2))
        #expect(timer.deadline == .seconds(2))
    }

    @Test func `the timer is armed anew after it fired`() {
        let timer = RequestTimer()
        timer.arm(.seconds(2))
        timer.rearm(.seconds(5))
        #expect(timer.deadline == .seconds(5))
        timer.rearm(nil)
        #expect(timer.deadline == nil)
    }

    @Test(.timeLimit(.minutes(15))) func `a finished timer calls no review`() async {
        let timer = RequestTimer()
        timer.finish()
        await timer.run(on: Lab().nodeClock) { Issue.record("nothing was due") }
    }
}
