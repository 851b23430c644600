package import Node
internal import NodeCore
internal import Platform

extension NodeClock {
    /// The clocks of this machine.
    package static func system() -> NodeClock {
        let clocks = Clocks.system()
        return NodeClock(
            now: { NodeTime(monotonic: clocks.monotonic(), wallSeconds: clocks.wallSeconds()) },
            sleep: { try await Task.sleep(for: $0 - clocks.monotonic(), clock: .continuous) }
        )
    }
}
