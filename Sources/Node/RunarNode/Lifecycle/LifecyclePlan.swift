/// The reactions of a node to state changes of its app or machine.
///
/// A value without I/O: the driver of each system passes events to it and performs the returned actions in order. So the
/// rules are the same everywhere, and are tested on systems without such an app.
///
/// ```
/// phone     background ──▶ stop inside a background task; or, if the person and the system allow background work,
///                          reduced operations until the system's time expires
///           foreground ──▶ start again
/// desktop   inactive ──▶ reduced operations;  active ──▶ all;  sleep and wake ──▶ check all paths again
/// all       termination ──▶ finish operations in flight;  low memory ──▶ release unused memory
/// ```
public struct LifecyclePlan: Hashable, Sendable {
    /// The kind of system that the app runs on.
    public enum System: Hashable, Sendable {
        /// Apps out of sight are stopped by the system: iOS.
        case phone
        /// Apps in the background continue to run: macOS.
        case desktop
        /// There is nothing to see: a service.
        case service
    }

    /// A change of the app or the machine.
    public enum Event: Hashable, Sendable {
        /// The app went out of sight.
        case enteredBackground
        /// The app is about to be seen again.
        case willEnterForeground
        /// The system's time for work in the background has expired.
        case backgroundTimeEnded
        /// The person switched Background App Refresh on or off.
        case backgroundRefreshChanged(isAvailable: Bool)
        /// The app is the one in use.
        case becameActive
        /// Another app is.
        case resignedActive
        /// The app or the service must end.
        case willTerminate
        /// The machine is about to sleep.
        case willSleep
        /// The machine slept.
        case didWake
        /// The system is so short of memory that it may end this program.
        case memoryWarning
        /// The system would like some memory.
        case memoryPressure
        /// There is a network again.
        case networkAvailable
        /// There is no network.
        case networkUnavailable
        /// A start requested by this plan failed; `wasDenied` is whether the person did not release the keys.
        case startFailed(wasDenied: Bool)
    }

    /// A step for the driver to perform.
    public enum Action: Hashable, Sendable {
        /// Ask the system for time until ``endBackgroundTask``.
        case beginBackgroundTask
        /// The time is no longer needed.
        case endBackgroundTask
        /// Close the connections and leave the network: ``RunarNode/stop(within:)``.
        case stop(within: Duration)
        /// Start the node again.
        case start
        /// Begin no new operations, finish those in flight, and stop: ``RunarNode/drain(within:)``.
        case drain(within: Duration)
        /// ``RunarNode/reduceOperations()``.
        case reduceOperations
        /// ``RunarNode/resumeOperations()``.
        case resumeOperations
        /// ``RunarNode/handleMemoryWarning()``.
        case handleMemoryWarning
        /// ``RunarNode/optimizeMemoryUsage()``.
        case optimizeMemoryUsage
        /// ``RunarNode/networkAvailable()``.
        case networkAvailable
        /// ``RunarNode/networkUnavailable()``.
        case networkUnavailable
    }

    /// The state of the app and its node.
    private enum Place: Hashable, Sendable {
        /// Seen, or on a system where that makes no difference. May become `background` or `ended`.
        case foreground
        /// In the background, with a node that runs for as long as the system allows. May become any other.
        case background
        /// Out of sight, with a node that this plan stopped. May become `foreground` or `ended`.
        case stopped
        /// Seen, with a node that could not start. May become `foreground`, `stopped` or `ended`.
        case failed(wasDenied: Bool)
        /// Over.
        case ended
    }

    /// The time limit of a node's stop inside a background task, which may need it twice: of the system's half minute
    /// some is left.
    public static let patience = Duration.seconds(10)
    /// The time limit of a stop when the task has lasted for ``backgroundTime``.
    public static let latePatience = Duration.seconds(4)
    /// The time for operations in flight on a phone when the app ends: the system allows a total of five seconds.
    public static let endPatience = Duration.seconds(2)
    /// The time after which a node that runs in the background receives ``Event/backgroundTimeEnded``.
    public static let backgroundTime = Duration.seconds(20)

    private let system: System
    private let allowsBackgroundAccess: Bool
    private var isBackgroundRefreshAvailable: Bool
    private var place = Place.foreground

    /// Makes a plan for an app that is seen.
    ///
    /// Work continues in the background of a phone if `allowBackgroundAccess` permits the use of the node's keys there, and
    /// the person has not switched Background App Refresh off for the app.
    public init(system: System, allowBackgroundAccess: Bool = false, isBackgroundRefreshAvailable: Bool = false) {
        self.system = system
        allowsBackgroundAccess = allowBackgroundAccess
        self.isBackgroundRefreshAvailable = isBackgroundRefreshAvailable
    }

    /// Handles an event and returns the actions to perform, in order; `isRunning` is whether the node runs or is starting.
    ///
    /// A node that its app has stopped remains stopped. A node that could not start tries again when the app becomes active,
    /// when a network becomes available, and when the app enters the foreground; only in the last case if the person denied
    /// the keys, since closing the system's own prompt makes the app active again.
    public mutating func handle(_ event: Event, isRunning: Bool) -> [Action] {
        guard place != .ended else { return [] }
        switch event {
        case .enteredBackground: return enterBackground(isRunning)
        case .willEnterForeground: return enterForeground()
        case .backgroundTimeEnded: return leaveNetwork()
        case .backgroundRefreshChanged(let isAvailable):
            isBackgroundRefreshAvailable = isAvailable
            return isAvailable ? [] : leaveNetwork()
        case .becameActive: return (system == .desktop ? [.resumeOperations] : []) + retry()
        case .resignedActive: return system == .desktop ? [.reduceOperations] : []
        case .willTerminate:
            place = .ended
            let patience = system == .phone ? Self.endPatience : RunarNode.drainPatience
            return isRunning ? [.drain(within: patience)] : []
        case .willSleep: return system == .desktop ? [.networkUnavailable] : []
        case .didWake: return system == .desktop ? [.networkAvailable] : []
        case .memoryWarning: return [.handleMemoryWarning]
        case .memoryPressure: return [.optimizeMemoryUsage]
        case .networkAvailable: return [.networkAvailable] + retry()
        case .networkUnavailable: return [.networkUnavailable]
        case .startFailed(let wasDenied):
            if place == .foreground { place = .failed(wasDenied: wasDenied) }
            return []
        }
    }

    private mutating func retry() -> [Action] {
        guard place == .failed(wasDenied: false) else { return [] }
        place = .foreground
        return [.start]
    }

    private mutating func enterBackground(_ isRunning: Bool) -> [Action] {
        guard system == .phone else { return [] }
        switch place {
        // After a failed start the app may have started the node itself.
        case .foreground where isRunning, .failed where isRunning: break
        case .failed:
            place = .stopped
            return []
        case .foreground, .background, .stopped, .ended: return []
        }
        guard allowsBackgroundAccess, isBackgroundRefreshAvailable else {
            place = .stopped
            return [.beginBackgroundTask, .stop(within: Self.patience), .endBackgroundTask]
        }
        place = .background
        return [.beginBackgroundTask, .reduceOperations]
    }

    private mutating func enterForeground() -> [Action] {
        defer { place = .foreground }
        switch place {
        case .background: return [.resumeOperations, .endBackgroundTask]
        case .stopped, .failed: return [.resumeOperations, .start]
        case .foreground, .ended: return []
        }
    }

    private mutating func leaveNetwork() -> [Action] {
        guard place == .background else { return [] }
        place = .stopped
        return [.stop(within: Self.latePatience), .endBackgroundTask]
    }
}
