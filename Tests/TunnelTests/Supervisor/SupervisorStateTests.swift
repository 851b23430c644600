internal import Testing

@testable internal import Tunnel

@Suite("Supervisor state") struct SupervisorStateTests {
    private func running() -> SupervisorState {
        var state = SupervisorState()
        _ = state.handle(.start, at: .zero)
        _ = state.handle(.engineStarted, at: .zero)
        return state
    }

    @Test func `an engine that ends is started again at once`() {
        var state = SupervisorState()
        #expect(state.handle(.start, at: .zero) == .startEngine)
        #expect(state.handle(.engineStarted, at: .seconds(1)) == .awaitEnd)
        #expect(state.handle(.engineEnded, at: .seconds(2)) == .startEngine)
        #expect(state.restartCount == 1)
    }

    @Test func `pauses double up to the longest one`() {
        var state = running()
        var pauses: [Duration] = []
        #expect(state.handle(.engineEnded, at: .zero) == .startEngine)
        for _ in 0..<12 {
            guard case .wait(let time) = state.handle(.startFailed, at: .seconds(1)) else { break }
            pauses.append(time - .seconds(1))
            #expect(state.handle(.timeReached, at: time) == .startEngine)
        }
        let milliseconds = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000, 10_000]
        #expect(pauses == milliseconds.map { .milliseconds($0) })
    }

    @Test func `a stable engine forgets earlier failures`() {
        var state = running()
        _ = state.handle(.engineEnded, at: .seconds(1))
        _ = state.handle(.engineStarted, at: .seconds(1))
        #expect(state.handle(.engineEnded, at: .seconds(2)) == .wait(until: .milliseconds(2_050)))
        _ = state.handle(.timeReached, at: .seconds(3))
        _ = state.handle(.engineStarted, at: .seconds(3))
        #expect(state.handle(.engineEnded, at: .seconds(13)) == .startEngine)
    }

    @Test func `a stop ends each phase`() {
        var idle = SupervisorState()
        #expect(idle.handle(.stop, at: .zero) == .finish)
        var starting = SupervisorState()
        _ = starting.handle(.start, at: .zero)
        #expect(starting.handle(.stop, at: .zero) == .stopEngine)
        #expect(starting.handle(.engineEnded, at: .zero) == .finish)
        var active = running()
        #expect(active.handle(.stop, at: .zero) == .stopEngine)
        #expect(active.handle(.engineEnded, at: .zero) == .finish)
        var pausing = running()
        _ = pausing.handle(.engineEnded, at: .zero)
        _ = pausing.handle(.startFailed, at: .zero)
        #expect(pausing.handle(.stop, at: .zero) == .finish)
        #expect(pausing.handle(.stop, at: .zero) == .finish)
    }
}
