internal import Bytes

/// The rounds in which new events are announced to a few members that are not neighbours.
struct AntiEntropy: Sendable {
    private let interval: Duration
    private let rounds: Int
    /// The time of the next round; nil if none is planned.
    private(set) var dueAt: Duration?
    private var roundsLeft = 0

    init(limits: PubSub.Limits) {
        interval = limits.antiEntropyInterval
        rounds = limits.antiEntropyRounds
    }

    /// The age up to which a batch is announced.
    var newsAge: Duration { interval * (rounds + 2) }

    /// Notes that a batch was delivered: all rounds follow.
    mutating func noteNews(using random: inout SeededGenerator, at now: Duration) {
        roundsLeft = rounds
        if dueAt == nil { plan(using: &random, at: now) }
    }

    mutating func beginRound() {
        dueAt = nil
        roundsLeft -= 1
    }

    /// Plans another round if one is left.
    mutating func planNextRound(using random: inout SeededGenerator, at now: Duration) {
        if roundsLeft > 0 { plan(using: &random, at: now) }
    }

    private mutating func plan(using random: inout SeededGenerator, at now: Duration) {
        let jitter = Int.random(in: 80...120, using: &random)
        dueAt = now + interval * jitter / 100
    }
}
