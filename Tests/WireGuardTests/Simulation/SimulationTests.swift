internal import Identity
internal import TestSupport
internal import Testing

@testable internal import WireGuard

@Suite("Simulated tunnels", .timeLimit(.minutes(5))) struct SimulationTests {
    /// Sends in both directions for a time, a packet each second.
    private func chat(_ tunnels: Tunnels, seconds: Int) {
        for _ in 0..<seconds {
            tunnels.send(from: 0, to: 1)
            tunnels.run(for: .milliseconds(500))
            tunnels.send(from: 1, to: 0)
            tunnels.run(for: .milliseconds(500))
        }
    }

    /// Checks that packets in both directions arrive within `limit`, sent each second.
    private func expectRecovery(_ tunnels: Tunnels, within limit: Int, _ label: String) {
        chat(tunnels, seconds: limit)
        let probes = [tunnels.send(from: 0, to: 1), tunnels.send(from: 1, to: 0)]
        tunnels.run(for: .seconds(1))
        #expect(probes.allSatisfy { !tunnels.isOutstanding($0) }, "seed \(tunnels.seed): no traffic after \(label)")
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a quiet hour loses no packet and has one handshake in 120 seconds`(seed: UInt64) {
        let tunnels = Tunnels(2, seed: seed)
        chat(tunnels, seconds: 3_600)
        tunnels.run(for: .seconds(1))
        #expect(tunnels.delivered == tunnels.sent && tunnels.sent == 7_200, "seed \(seed)")
        #expect((30...31) ~= tunnels.initiations, "seed \(seed): \(tunnels.initiations) initiations")
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `an hour of renewals adds no loss to that of the network`(seed: UInt64) throws {
        let tunnels = Tunnels(2, seed: seed)
        // Packets that wait for the first session are not the subject.
        chat(tunnels, seconds: 1)
        // A packet overtakes up to two earlier ones.
        tunnels.faults = Tunnels.Faults(loss: 0.1, duplication: 0.05, jitterMilliseconds: 1_000)
        for _ in 0..<2 * 3_600 {
            tunnels.send(from: 0, to: 1)
            tunnels.run(for: .milliseconds(250))
            tunnels.send(from: 1, to: 0)
            tunnels.run(for: .milliseconds(250))
        }
        tunnels.run(for: .seconds(2))
        let (sent, delivered) = (tunnels.sent, tunnels.delivered)
        #expect(sent - delivered == tunnels.lost, "seed \(seed): \(sent - delivered) lost, not \(tunnels.lost)")
        // Of 1,000 datagrams 95 have no copy that arrives; four standard deviations of 14,402 are 0.01.
        let share = Double(delivered) / Double(sent)
        #expect((0.895...0.915) ~= share, "seed \(seed): \(share) arrived")
        // A side without a session waits 5 s at least for the next initiation. Loss alone needs seven packets in a row for
        // such a gap, which is one case in 10^7.
        for node in 0..<2 { #expect(try #require(tunnels.longestGaps[node]) < .seconds(5), "seed \(seed)") }
        let sessions = tunnels.establishedSessions
        #expect(sessions.asInitiator == sessions.asResponder, "seed \(seed): \(sessions)")
        #expect((29...31) ~= sessions.asInitiator, "seed \(seed): \(sessions)")
        // Both messages of a handshake arrive in 0.905 * 0.905 of the attempts: 1.22 attempts for each of 30 sessions, 37 in
        // total, with a standard deviation of 2.9.
        #expect((29...48) ~= tunnels.initiations, "seed \(seed): \(tunnels.initiations) initiations")
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `packets that are on their way at a renewal arrive`(seed: UInt64) {
        let tunnels = Tunnels(2, seed: seed)
        tunnels.faults.jitterMilliseconds = 300
        for _ in 0..<4_000 {
            tunnels.send(from: 0, to: 1)
            tunnels.send(from: 1, to: 0)
            tunnels.run(for: .milliseconds(100))
        }
        tunnels.run(for: .seconds(1))
        #expect(tunnels.delivered == tunnels.sent, "seed \(seed): \(tunnels.sent - tunnels.delivered) lost")
        #expect(tunnels.initiations <= 7, "seed \(seed): \(tunnels.initiations) initiations")
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `traffic recovers from every disturbance on a bad network`(seed: UInt64) {
        let tunnels = Tunnels(3, seed: seed)
        var random = SplitMix64(seed: seed ^ 0xD15)
        tunnels.faults = .bad
        var budget = 0
        for round in 0..<16 {
            let node = Int.random(in: 0..<2, using: &random)
            let label: String
            switch Int.random(in: 0..<7, using: &random) {
            case 0:
                label = "a restart"
                tunnels.restart(node)
            case 1:
                label = "a move"
                tunnels.move(node)
                tunnels.send(from: node, to: 1 - node)
            case 2:
                label = "a sleep that the clock counts"
                tunnels.sleep(node, for: .seconds(3_600), countsSleep: true)
            case 3:
                label = "a sleep that the clock misses"
                tunnels.sleep(node, for: .seconds(3_600), countsSleep: false)
            case 4:
                label = "a jump of the wall clock"
                tunnels.wallError[node] += .seconds(Int.random(in: 0...86_400, using: &random))
            case 5:
                label = "a wall clock that went back"
                tunnels.wallError[node] -= .seconds(Int.random(in: 0...86_400, using: &random))
            default:
                label = "an outage"
                tunnels.faults.loss = 1
                chat(tunnels, seconds: 200)
                tunnels.faults.loss = Tunnels.Faults.bad.loss
            }
            if label.hasPrefix("a sleep") {
                chat(tunnels, seconds: 200)
                tunnels.run(for: .seconds(3_401))
            }
            tunnels.send(from: 2, to: node)
            // While a side is away, one in 5 seconds from each other side; otherwise few.
            budget += 2 * 200 / 5 + 40
            chat(tunnels, seconds: 60)
            tunnels.faults = Tunnels.Faults()
            expectRecovery(tunnels, within: 25, "\(label) in round \(round)")
            tunnels.faults = .bad
        }
        #expect(tunnels.initiations < budget, "seed \(seed): \(tunnels.initiations) initiations")
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `a woken peer has traffic within one round trip`(seed: UInt64) {
        let tunnels = Tunnels(2, seed: seed)
        chat(tunnels, seconds: 30)
        tunnels.sleep(0, for: .seconds(3_600), countsSleep: seed % 2 == 0)
        tunnels.run(for: .seconds(3_601))
        let probe = tunnels.send(from: 0, to: 1)
        tunnels.run(for: .milliseconds(100))
        #expect(!tunnels.isOutstanding(probe), "seed \(seed)")
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `sides that begin at once converge to one handshake in 120 seconds`(seed: UInt64) {
        let tunnels = Tunnels(2, seed: seed)
        for _ in 0..<1_200 {
            tunnels.send(from: 0, to: 1)
            tunnels.send(from: 1, to: 0)
            tunnels.run(for: .seconds(1))
        }
        #expect(tunnels.delivered == tunnels.sent, "seed \(seed)")
        #expect(tunnels.initiations <= 13, "seed \(seed): \(tunnels.initiations) initiations")
    }
}
