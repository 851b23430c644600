internal import Bytes

/// The rounds in which new events are announced to a few members that are not neighbours.
struct AntiEntropy: Sendable {
    private let interval: Duration
    private let rounds: Int
    /// The time of the next round; nil if none is planned.
    private(set) var dueAt: Duration?
    private var roundsLeft = 0

    init(limits: PubSub.Limits) {
        self.interval = limits.antiEntropyInterval
        self.rounds = limits.antiEntropyRounds
    }

    /// The age up to which a batch is announced.
    var newsAge: Duration { self.interval * (self.rounds + 2) }

    /// Notes that a batch was delivered: all rounds follow.
    mutating func noteNews(using random: inout SeededGenerator, at now: Duration) {
        self.roundsLeft = self.rounds
        if self.dueAt == nil { self.plan(using: &random, at: now) }
    }

    mutating func beginRound() {
        self.dueAt = nil
        self.roundsLeft -= 1
    }

    /// Plans another round if one is left.
    mutating func planNextRound(using random: inout SeededGenerator, at now: Duration) {
        if self.roundsLeft > 0 { self.plan(using: &random, at: now) }
    }

    private mutating func plan(using random: inout SeededGenerator, at now: Duration) {
        let jitter = Int.random(in: 80...120, using: &random)
        self.dueAt = now + self.interval * jitter / 100
    }
}
