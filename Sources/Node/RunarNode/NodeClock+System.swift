internal import Essentials
internal import Identity
package import Node
internal import Platform
internal import Transport

extension NodeClock {
    /// The clocks of this machine.
    package static func system() -> NodeClock {
        let clocks = Clocks.system()
        return NodeClock(
            now: { NodeTime(monotonic: clocks.monotonic(), wallSeconds: clocks.wallSeconds()) },
            wallMilliseconds: { SystemProcess.wallMilliseconds },
            sleep: { try await Task.sleep(for: $0 - clocks.monotonic(), clock: .continuous) }
        )
    }

    /// The clock of a network in memory, with a wall clock that starts at that of this machine.
    static func following(_ network: InMemoryNetwork) -> NodeClock {
        let (start, startAge) = (SystemProcess.wallMilliseconds, network.age)
        let milliseconds: @Sendable (Duration) -> UInt64 = { age in
            start + UInt64(max((age - startAge) / .milliseconds(1), 0))
        }
        return NodeClock(
            now: {
                let age = network.age
                return NodeTime(monotonic: age, wallSeconds: milliseconds(age) / 1_000)
            },
            wallMilliseconds: { milliseconds(network.age) },
            sleep: { try await network.sleep(untilAge: $0) }
        )
    }

    /// The wall clock.
    var date: Date { Date(timeIntervalSince1970: Double(wallMilliseconds()) / 1_000) }
}
