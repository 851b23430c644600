#if os(Linux)
internal import TestSupport

/// The rungs of a ladder of worse and worse lines, as iroh's tests have them.
struct Rung: Sendable {
    let number: Int
    let name: String
    let line: NatLab.Line
    /// Whether everything is expected to work here.
    var isExpected: Bool { number <= 6 }

    private init(
        _ number: Int,
        _ name: String,
        megabits: Double,
        roundTrip: Int,
        jitter: Int,
        loss: Double,
        burst: Int
    ) {
        self.number = number
        self.name = name
        line = NatLab.Line(
            bitsPerSecond: Int(megabits * 1_000_000),
            delay: .milliseconds(roundTrip / 2),
            jitter: .milliseconds(jitter),
            lossPercent: loss,
            burst: burst,
            seed: UInt32(number + 1)
        )
    }

    static let all = [
        Self(0, "good wifi", megabits: 100, roundTrip: 16, jitter: 0, loss: 0.1, burst: 1),
        Self(1, "congested wifi", megabits: 25, roundTrip: 40, jitter: 12, loss: 1, burst: 6),
        Self(2, "weak 4G", megabits: 8, roundTrip: 90, jitter: 15, loss: 2, burst: 8),
        Self(3, "slow 3G", megabits: 3, roundTrip: 200, jitter: 30, loss: 3, burst: 10),
        Self(4, "congested cellular", megabits: 1.5, roundTrip: 300, jitter: 40, loss: 5, burst: 12),
        Self(5, "very bad cellular", megabits: 0.8, roundTrip: 450, jitter: 60, loss: 8, burst: 20),
        Self(6, "satellite", megabits: 25, roundTrip: 600, jitter: 40, loss: 1.5, burst: 6),
        Self(7, "barely usable", megabits: 0.5, roundTrip: 450, jitter: 80, loss: 12, burst: 25),
        Self(8, "absurd", megabits: 0.256, roundTrip: 800, jitter: 150, loss: 25, burst: 40),
    ]
}
#endif
