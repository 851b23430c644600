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
        mutating func dial(from address: IPAddress, to own: IPAddress? = nil) -> AdmissionGate.Handshake? {
            for isValidated in [false, true] {
                switch gate.evaluate(address, to: own, isValidated: isValidated, at: now) {
                case .accept(let handshake, let other):
                    if let other { evicted.insert(other) }
                    return handshake
                case .demandRetry: continue
                case .drop: return nil
                }
            }
            return nil
        }

        /// Advances the time by a millisecond, in which each of `attackers` dials if it is its turn.
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

    // MARK: A guest with many addresses of the home's IPv6 network

    /// A guest in the home that begins `perSecond` handshakes a second, each from another one of its addresses.
    private struct Guest {
        static let home: UInt64 = 0x2001_0DB8_0001_0002
        static let node = IPAddress.v6(high: home, low: 1, scope: 0)

        var flood = Flood()
        let addresses: UInt64
        let perSecond: UInt64
        private var count: UInt64 = 0

        init(addresses: UInt64, perSecond: UInt64) {
            (self.addresses, self.perSecond) = (addresses, perSecond)
        }

        mutating func attack(for milliseconds: Int) {
            for _ in 0..<milliseconds {
                flood.pass([], perSecond: 0)
                while count < flood.now / HandshakeFloodTests.millisecond * perSecond / 1000 {
                    count += 1
                    let address = IPAddress.v6(high: Self.home, low: 0x1_0000 + count % addresses, scope: 0)
                    if let handshake = flood.dial(from: address, to: Self.node) {
                        flood.held.append((flood.now + HandshakeFloodTests.timeout, handshake))
                    }
                }
            }
        }

        /// Dials from an address of the home, again after a second as QUIC does (RFC 9002, section 6.2), and returns
        /// whether the handshake was complete within two seconds.
        mutating func isLetIn(_ device: IPAddress) -> Bool {
            for pause in [1000, 0] {
                let handshake = flood.dial(from: device, to: Self.node)
                attack(for: 100)
                if let handshake, !flood.evicted.contains(handshake) {
                    flood.gate.ended(handshake, hasCompleted: true)
                    flood.gate.admitted(handshake)
                    flood.gate.remember(device)
                    return true
                }
                attack(for: max(0, pause - 100))
            }
            return false
        }
    }

    /// Either the household has enough handshakes, or the addresses of the guest spent theirs before.
    @Test(arguments: [(16, 1000, 3), (4_000, 250, 3), (4_000, 500, 20)] as [(UInt64, UInt64, Int)])
    func `a guest with many addresses of the home's network keeps no device of it out`(
        _ addresses: UInt64,
        _ perSecond: UInt64,
        after seconds: Int
    ) {
        var guest = Guest(addresses: addresses, perSecond: perSecond)
        guest.attack(for: 1_000 * seconds)
        let letIn = (1...20).filter { guest.isLetIn(.v6(high: Guest.home, low: UInt64(100 + $0), scope: 0)) }
        #expect(letIn.count == 20)
        #expect(guest.flood.gate.begun < 2 * 256 + 2 * 256 * guest.flood.now / 1_000_000_000)
    }

    @Test func `a member at its last address is let in whatever number of addresses a guest has`() {
        var guest = Guest(addresses: .max, perSecond: 1000)
        let member = IPAddress.v6(high: Guest.home, low: 100, scope: 0)
        guest.flood.gate.remember(member)
        guest.attack(for: 3_000)
        #expect((0..<20).filter { _ in guest.isLetIn(member) }.count == 20)
    }
}
