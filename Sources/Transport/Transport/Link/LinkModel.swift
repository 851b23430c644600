package import Bytes

/// The behaviour of one direction between two endpoints.
///
/// Connections keep their order and lose nothing, because QUIC repairs loss: there, a loss shows as the delay until
/// the sender's probe timeout. Datagrams are really lost, doubled and overtaken. Bandwidth, queues and congestion are
/// not modelled.
public struct LinkModel: Sendable, Hashable {
    /// The shortest time that everything is under way.
    public var latency: Duration
    /// The most that chance adds to ``latency``, evenly spread.
    public var jitter: Duration
    /// The share of datagrams that are lost, from 0 to 1; a connection waits a probe timeout for each.
    public var loss: Double
    /// The share of datagrams that arrive late enough for the next ones to overtake them, from 0 to 1.
    public var reordering: Double
    /// The share of datagrams that arrive twice, from 0 to 1.
    public var duplication: Double

    /// Creates a model; without arguments everything arrives at once.
    public init(
        latency: Duration = .zero,
        jitter: Duration = .zero,
        loss: Double = 0,
        reordering: Double = 0,
        duplication: Double = 0
    ) {
        self.latency = latency
        self.jitter = jitter
        self.loss = loss
        self.reordering = reordering
        self.duplication = duplication
    }

    /// The delay after which a sender retransmits a lost frame: three one-way times and the usual acknowledgement delay.
    package var probeTimeout: Duration { (latency + jitter) * 3 + .milliseconds(25) }

    /// The most consecutive retransmissions; more of them mean a cut link rather than a lossy one.
    private static let maximumRepetitions = 6

    /// Draws how long a part of a connection is under way; every loss doubles the wait for the next try.
    package func connectionDelay(using generator: inout SeededGenerator) -> Duration {
        var delay = transit(using: &generator)
        var wait = probeTimeout
        for _ in 0..<Self.maximumRepetitions where generator.decide(loss) {
            delay += wait
            wait *= 2
        }
        return delay
    }

    /// Draws the delay of each copy of a datagram that arrives; none if it is lost.
    package func datagramDelays(using generator: inout SeededGenerator) -> [Duration] {
        guard !generator.decide(loss) else { return [] }
        let copies = generator.decide(duplication) ? 2 : 1
        return (0..<copies).map { _ in
            let isLate = generator.decide(reordering)
            return transit(using: &generator) + (isLate ? probeTimeout : .zero)
        }
    }

    private func transit(using generator: inout SeededGenerator) -> Duration {
        guard jitter > .zero else { return latency }
        return latency + jitter * Double(generator.next() >> 11) / 0x1p53
    }
}
