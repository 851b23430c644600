internal import Testing

@testable internal import RunarNode

@Suite("Lifecycle plan") struct LifecyclePlanTests {
    /// A phone whose node is allowed to work in the background, or not.
    private func phone(access: Bool = true, refresh: Bool = true) -> LifecyclePlan {
        LifecyclePlan(system: .phone, allowBackgroundAccess: access, isBackgroundRefreshAvailable: refresh)
    }

    private let stopAtOnce: [LifecyclePlan.Action] = [
        .beginBackgroundTask, .stop(within: .seconds(10)), .endBackgroundTask,
    ]
    private let stopLate: [LifecyclePlan.Action] = [.stop(within: .seconds(4)), .endBackgroundTask]

    @Test func `a stop that exhausts its time limit twice ends within the system's half minute`() {
        #expect(LifecyclePlan.patience * 2 < .seconds(30))
        #expect(LifecyclePlan.backgroundTime + LifecyclePlan.latePatience * 2 < .seconds(30))
    }

    @Test(arguments: [(false, false), (false, true), (true, false)])
    func `a phone's node stops in a background task and starts in the foreground`(
        access: Bool,
        refresh: Bool
    ) {
        var plan = phone(access: access, refresh: refresh)
        #expect(plan.handle(.enteredBackground, isRunning: true) == stopAtOnce)
        #expect(plan.handle(.enteredBackground, isRunning: false) == [])
        #expect(plan.handle(.backgroundTimeEnded, isRunning: false) == [])
        #expect(plan.handle(.willEnterForeground, isRunning: false) == [.resumeOperations, .start])
        #expect(plan.handle(.willEnterForeground, isRunning: true) == [])
    }

    @Test func `a node with background access runs in reduced mode until the time ends`() {
        var plan = phone()
        #expect(plan.handle(.enteredBackground, isRunning: true) == [.beginBackgroundTask, .reduceOperations])
        #expect(plan.handle(.backgroundTimeEnded, isRunning: true) == stopLate)
        #expect(plan.handle(.backgroundTimeEnded, isRunning: false) == [])
        #expect(plan.handle(.willEnterForeground, isRunning: false) == [.resumeOperations, .start])
    }

    @Test func `a node that returns to the foreground before that resumes without a stop`() {
        var plan = phone()
        _ = plan.handle(.enteredBackground, isRunning: true)
        #expect(plan.handle(.willEnterForeground, isRunning: true) == [.resumeOperations, .endBackgroundTask])
        #expect(plan.handle(.backgroundTimeEnded, isRunning: true) == [])
    }

    @Test func `Background App Refresh switched off in the background ends the work there`() {
        var plan = phone()
        _ = plan.handle(.enteredBackground, isRunning: true)
        let actions = plan.handle(.backgroundRefreshChanged(isAvailable: false), isRunning: true)
        #expect(actions == stopLate)
        #expect(plan.handle(.willEnterForeground, isRunning: false) == [.resumeOperations, .start])
        #expect(plan.handle(.enteredBackground, isRunning: true) == stopAtOnce)
    }

    @Test func `a node that its app stopped stays stopped`() {
        var plan = phone()
        #expect(plan.handle(.enteredBackground, isRunning: false) == [])
        #expect(plan.handle(.willEnterForeground, isRunning: false) == [])
        #expect(plan.handle(.willTerminate, isRunning: false) == [])
    }

    @Test(arguments: [LifecyclePlan.Event.becameActive, .networkAvailable, .willEnterForeground])
    func `a failed start is retried once at the next opportunity`(chance: LifecyclePlan.Event) {
        var plan = phone(access: false)
        _ = plan.handle(.enteredBackground, isRunning: true)
        _ = plan.handle(.willEnterForeground, isRunning: false)
        #expect(plan.handle(.startFailed(wasDenied: false), isRunning: false) == [])
        #expect(plan.handle(.networkUnavailable, isRunning: false) == [.networkUnavailable])
        #expect(plan.handle(chance, isRunning: false).last == .start)
        #expect(!plan.handle(chance, isRunning: true).contains(.start))
        #expect(plan.handle(.startFailed(wasDenied: false), isRunning: false) == [])
        #expect(plan.handle(.enteredBackground, isRunning: false) == [])
        #expect(plan.handle(.willEnterForeground, isRunning: false) == [.resumeOperations, .start])
    }

    @Test func `denied keys are requested again only at the next foreground`() {
        var plan = phone(access: false)
        _ = plan.handle(.enteredBackground, isRunning: true)
        _ = plan.handle(.willEnterForeground, isRunning: false)
        #expect(plan.handle(.startFailed(wasDenied: true), isRunning: false) == [])
        #expect(plan.handle(.becameActive, isRunning: false) == [])
        #expect(plan.handle(.networkAvailable, isRunning: false) == [.networkAvailable])
        #expect(plan.handle(.enteredBackground, isRunning: false) == [])
        #expect(plan.handle(.willEnterForeground, isRunning: false) == [.resumeOperations, .start])
    }

    @Test func `a node that its app started after a failure stops in the background`() {
        var plan = phone(access: false)
        _ = plan.handle(.enteredBackground, isRunning: true)
        _ = plan.handle(.willEnterForeground, isRunning: false)
        #expect(plan.handle(.startFailed(wasDenied: true), isRunning: false) == [])
        #expect(plan.handle(.enteredBackground, isRunning: true) == stopAtOnce)
        #expect(plan.handle(.willEnterForeground, isRunning: false) == [.resumeOperations, .start])
    }

    @Test func `a desktop's node reduces work while inactive and checks the network after sleep`() {
        var plan = LifecyclePlan(system: .desktop)
        #expect(plan.handle(.resignedActive, isRunning: true) == [.reduceOperations])
        #expect(plan.handle(.becameActive, isRunning: true) == [.resumeOperations])
        #expect(plan.handle(.willSleep, isRunning: true) == [.networkUnavailable])
        #expect(plan.handle(.didWake, isRunning: true) == [.networkAvailable])
        #expect(plan.handle(.enteredBackground, isRunning: true) == [])
    }

    @Test(arguments: [LifecyclePlan.System.phone, .desktop, .service])
    func `every system drains once at the end and forwards memory and network events`(system: LifecyclePlan.System) {
        var plan = LifecyclePlan(system: system)
        #expect(plan.handle(.memoryWarning, isRunning: true) == [.handleMemoryWarning])
        #expect(plan.handle(.memoryPressure, isRunning: true) == [.optimizeMemoryUsage])
        #expect(plan.handle(.networkUnavailable, isRunning: true) == [.networkUnavailable])
        #expect(plan.handle(.networkAvailable, isRunning: true) == [.networkAvailable])
        let patience = Duration.seconds(system == .phone ? 2 : 10)
        #expect(plan.handle(.willTerminate, isRunning: true) == [.drain(within: patience)])
        #expect(plan.handle(.willTerminate, isRunning: true) == [])
        #expect(plan.handle(.willEnterForeground, isRunning: false) == [])
    }

    @Test func `no order of events leaves a background task open or begins a second one`() {
        var random = SystemRandomNumberGenerator()
        let events: [LifecyclePlan.Event] = [
            .enteredBackground, .willEnterForeground, .backgroundTimeEnded, .becameActive, .resignedActive,
            .backgroundRefreshChanged(isAvailable: false), .backgroundRefreshChanged(isAvailable: true), .memoryWarning,
            .networkAvailable,
        ]
        for _ in 0..<200 {
            var plan = phone(access: .random(using: &random), refresh: .random(using: &random))
            var (isOpen, isRunning, history) = (false, true, [LifecyclePlan.Event]())
            for _ in 0..<40 {
                guard let event = events.randomElement(using: &random) else { continue }
                history.append(event)
                for action in plan.handle(event, isRunning: isRunning) {
                    switch action {
                    case .beginBackgroundTask:
                        #expect(!isOpen, "\(history)")
                        isOpen = true
                    case .endBackgroundTask:
                        #expect(isOpen, "\(history)")
                        isOpen = false
                    case .stop: isRunning = false
                    case .start:
                        isRunning = .random(using: &random)
                        if !isRunning { #expect(plan.handle(.startFailed(wasDenied: false), isRunning: false) == []) }
                    default: break
                    }
                }
                if event == .backgroundTimeEnded || event == .willEnterForeground { #expect(!isOpen, "\(history)") }
                if event == .willEnterForeground, !isRunning {
                    #expect(plan.handle(.willEnterForeground, isRunning: false).contains(.start), "\(history)")
                    isRunning = true
                }
            }
        }
    }
}
