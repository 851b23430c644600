internal import Concurrency
internal import Testing
internal import Transport

@testable internal import Node

@Suite("The timer of requests", .timeLimit(.minutes(15))) struct RequestTimerTests {
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

    @Test func `each deadline is reviewed when it is reached`() async {
        let (lab, timer) = (Lab(), RequestTimer())
        let times = Locked<[Duration]>([])
        timer.arm(.seconds(5))
        async let end: Void = timer.run(on: lab.nodeClock) {
            let now = lab.clock.now.offset
            let isFirst = times.withLock { times in
                times.append(now)
                return times.count == 1
            }
            guard isFirst else { return timer.finish() }
            timer.rearm(.seconds(9))
            lab.clock.advance(by: .seconds(4))
        }
        lab.clock.advance(by: .seconds(4))
        lab.clock.advance(by: .seconds(1))
        await end
        #expect(times.withLock { $0 } == [.seconds(5), .seconds(9)])
    }

    @Test func `a finished timer no longer runs`() async {
        let timer = RequestTimer()
        timer.finish()
        await timer.run(on: Lab().nodeClock) { Issue.record("no request was under way") }
    }
}
