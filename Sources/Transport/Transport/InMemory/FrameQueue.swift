internal import DequeModule

/// The frames on their way to one end of a connection, in order.
struct FrameQueue {
    private var moving: Deque<(moment: Duration, frame: InMemoryFrame)> = []
    /// The frames that a cut link keeps back; none arrives before they do.
    private var held: [InMemoryFrame] = []

    /// Whether no frame is moving.
    var isEmpty: Bool { moving.isEmpty }

    /// Whether frames are kept back, and so must be each that follows.
    var isHolding: Bool { !held.isEmpty }

    /// Adds a frame and returns the moment of its arrival: not before that of the frame ahead.
    mutating func append(_ frame: InMemoryFrame, at moment: Duration) -> Duration {
        let moment = max(moment, moving.last?.moment ?? .zero)
        moving.append((moment, frame))
        return moment
    }

    /// Removes and returns the first frame if it is due.
    mutating func popFirst(at now: Duration) -> InMemoryFrame? {
        guard let next = moving.first, next.moment <= now else { return nil }
        moving.removeFirst()
        return next.frame
    }

    /// Keeps a frame back.
    mutating func hold(_ frame: InMemoryFrame) {
        held.append(frame)
    }

    /// Removes and returns the frames that were kept back.
    mutating func takeHeld() -> [InMemoryFrame] {
        defer { held = [] }
        return held
    }

    /// Loses all frames.
    mutating func removeAll() {
        moving = []
        held = []
    }
}
