internal import Identity
internal import Testing

@testable internal import QUIC

/// A gate while others begin handshakes as fast as they can and complete none.
@Suite("Handshake floods") struct HandshakeFloodTests {
    private static let millisecond: UInt64 = 1_000_000
    private static let timeout = 5000 * millisecond
    private static let roundTrip = 100 * millisecond

    /// The gate of a node, its clock, and the handshakes under way.
    private struct Flood {
        var gate: AdmissionGate
        var now: UInt64 = 0
        var held: [(end: UInt64, handshake: AdmissionGate.Handshake)] = []
        var evicted: Set<AdmissionGate.Handshake> = []

        init() {
            var limits = QUICLimits()
            limits.unadmitted = UnadmittedLimits()
            gate = AdmissionGate(limits: limits)
        }

        /// Sends an Initial, and another one after a Retry; returns the handshake if there is one.
        mutating func dial(from address: IPAddress) -> AdmissionGate.Handshake? {
            for isValidated in [false, true] {
                switch gate.evaluate(address, isValidated: isValidated, at: now) {
                case .accept(let handshake, let other):
                    if let other { evicted.insert(other) }
                    return handshake
                case .demandRetry: continue
                case .drop: return nil
                }
            }
            return nil
        }

        /// Lets a millisecond pass, in which each of `attackers` dials if it is its turn.
        mutating func pass(_ attackers: [IPAddress], perSecond: UInt64) {
            now += millisecond
            while let first = held.first, first.end <= now {
                gate.ended(first.handshake, hasCompleted: false)
                held.removeFirst()
            }
            let isTurn = now / millisecond * perSecond / 1000 != (now / millisecond - 1) * perSecond / 1000
            for address in attackers where isTurn {
                if let handshake = dial(from: address) { held.append((now + timeout, handshake)) }
            }
        }

        /// Dials from each of `clients`, a tenth of a second apart, under attack; returns how many completed.
        mutating func completions(of clients: [IPAddress], under attackers: [IPAddress], perSecond: UInt64) -> Int {
            var completed = 0
            for client in clients {
                let handshake = dial(from: client)
                for _ in 0..<roundTrip / millisecond { pass(attackers, perSecond: perSecond) }
                guard let handshake, !evicted.contains(handshake) else { continue }
                gate.ended(handshake, hasCompleted: true)
                completed += 1
            }
            return completed
        }
    }

    @Test func `eight networks at 200 first packets a second keep neither members nor newcomers out`() throws {
        var flood = Flood()
        let attackers = (0..<UInt32(8)).map { IPAddress.v4(0xC612_0000 + $0 << 8 + 1) }
        let member = IPAddress.v4(0xCB00_7105)
        flood.gate.remember(member)
        for _ in 0..<10_000 { flood.pass(attackers, perSecond: 200) }
        #expect(flood.gate.underWay.count >= 192, "the attack holds all that it can")
        let newcomers = (0..<UInt32(10)).map { IPAddress.v4(0x0808_0008 + $0 << 8) }
        #expect(flood.completions(of: newcomers, under: attackers, perSecond: 200) == 10)
        #expect(flood.completions(of: Array(repeating: member, count: 10), under: attackers, perSecond: 200) == 10)
    }

    @Test func `a member is let in from a network that floods`() throws {
        var flood = Flood()
        let (attacker, member) = (IPAddress.v4(0xC612_0001), IPAddress.v4(0xC612_0002))
        flood.gate.remember(member)
        for _ in 0..<10_000 { flood.pass([attacker], perSecond: 300) }
        #expect(flood.completions(of: Array(repeating: member, count: 10), under: [attacker], perSecond: 300) == 10)
    }

    @Test func `a guest on the local network at 300 first packets a second keeps no device of it out`() throws {
        for guest in ["192.168.1.66", "fe80::66"] {
            var flood = Flood()
            let guest = try #require(IPAddress(guest))
            for _ in 0..<10_000 { flood.pass([guest], perSecond: 300) }
            let devices = try (1...10).map { number in
                try #require(IPAddress(guest.isIPv6 ? "fe80::\(number)" : "192.168.1.\(number)"))
            }
            #expect(flood.completions(of: devices, under: [guest], perSecond: 300) == 10)
        }
    }
}
