internal import Bytes

/// The times of the announcements of one network.
///
/// A burst at the start, a regular announcement every interval, and answers to new peers. A datagram reaches all receivers,
/// so answers that are due together are merged. With more peers they spread over a longer time, until the regular
/// announcement serves as well.
struct Schedule: Sendable {
    /// The start times of an answer and its repetitions, in halves of the spread: more than one, because multicast gets
    /// lost.
    private static let answerSteps = [0, 3, 8, 16]
    /// The shortest spread of answers: short enough for a person, long enough that few answers collide.
    private static let shortestSpread = Duration.milliseconds(100)
    /// The time that each peer adds to it: all of them together send 250 answers a second at most.
    private static let spreadPerPeer = Duration.milliseconds(4)
    /// The random delay of a burst's datagrams: nodes that start together do not send together.
    private static let burstJitter = Duration.milliseconds(20)
    /// The time after a datagram within which a further one is merged with it.
    private static let shortestGap = Duration.milliseconds(25)
    /// The most extra announcements that are planned; more would be merged.
    private static let maximumPlanned = 32

    private let interval: Duration
    private let spread: Duration
    /// Extra announcements, in order.
    private var planned: [Duration] = []
    /// The time of the regular announcement without its random offset, so that offsets do not accumulate.
    private var beat: Duration
    private var regular: Duration

    /// Creates a schedule of regular announcements only.
    init(interval: Duration, spread: Duration, at now: Duration, using random: inout SeededGenerator) {
        self.interval = interval
        self.spread = spread
        beat = now
        regular = now
        advance(past: now, using: &random)
    }

    /// The time at which the next announcement is due.
    var next: Duration { planned.first.map { min($0, regular) } ?? regular }

    /// Plans several announcements from `now` on.
    mutating func burst(_ times: [Duration], at now: Duration, using random: inout SeededGenerator) {
        for time in times {
            plan(now + time + random.duration(upTo: Self.burstJitter))
        }
    }

    /// Plans answers to a peer that was first heard at `now`, with `peerCount` known peers.
    mutating func answer(peerCount: Int, at now: Duration, using random: inout SeededGenerator) {
        let spread = max(Self.shortestSpread, Self.spreadPerPeer * peerCount)
        for halves in Self.answerSteps {
            let offset = spread * halves / 2
            guard offset < interval else { return }
            let begin = now + offset
            let time = begin + random.duration(upTo: spread)
            // An announcement that is planned within that time serves as the answer.
            guard !planned.contains(where: { $0 >= begin && $0 <= begin + spread }) else { continue }
            plan(time)
        }
    }

    /// Removes the announcements that one sent at `now` satisfies, and plans the next regular one.
    mutating func sent(at now: Duration, using random: inout SeededGenerator) {
        planned.removeAll { $0 <= now + Self.shortestGap }
        if regular <= now + Self.shortestGap { advance(past: now, using: &random) }
    }

    private mutating func plan(_ time: Duration) {
        guard planned.count < Self.maximumPlanned else { return }
        let index = planned.firstIndex { $0 > time } ?? planned.count
        planned.insert(time, at: index)
    }

    private mutating func advance(past now: Duration, using random: inout SeededGenerator) {
        beat += interval
        // Announcements missed while the system slept are skipped.
        if beat <= now { beat = now + interval }
        regular = max(now, beat - spread / 2 + random.duration(upTo: spread))
    }
}

extension SeededGenerator {
    /// A random time from zero to `limit`.
    mutating func duration(upTo limit: Duration) -> Duration {
        let (seconds, attoseconds) = limit.components
        let nanoseconds = max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        return .nanoseconds(Int64.random(in: 0...nanoseconds, using: &self))
    }
}
