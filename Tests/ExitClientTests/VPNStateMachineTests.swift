internal import Testing

@testable internal import ExitClient

@Suite("Connection sequence") struct VPNStateMachineTests {
    /// A gateway in a list of the directory, which differs from an earlier one by its load alone.
    struct Gateway: Identifiable, Equatable, ExpressibleByStringLiteral {
        let id: String
        var load = 0

        init(stringLiteral text: String) { id = text }

        init(_ id: String, load: Int) { (self.id, self.load) = (id, load) }
    }

    typealias Machine = VPNStateMachine<Gateway, String>

    private struct NoRenewal: Error {}

    /// A machine whose operations end as a test decides.
    struct Dialogue {
        var machine = Machine()
        var now = Duration.zero

        mutating func handle(_ input: Machine.Input) -> [Machine.Effect] { machine.handle(input, at: now) }

        mutating func connect(_ gateways: [Gateway] = ["a", "b", "c", "d"]) -> [Machine.Effect] {
            _ = handle(.connect(location: "us-east"))
            return handle(.found(1, gateways))
        }

        /// Brings a machine to a tunnel with a handshake, by a lease of an hour.
        mutating func establish() {
            _ = connect()
            _ = handle(.token(2, [1]))
            _ = handle(.redeemed(3, "first", lasts: .seconds(3_600)))
            _ = handle(.started(4))
            _ = handle(.handshake(at: now))
        }

        /// Waits until the next renewal, with handshakes, and returns the number of its first operation.
        mutating func renew() throws -> UInt64 {
            for _ in 0..<1_000 {
                now += .seconds(10)
                _ = handle(.handshake(at: now))
                for case .findGateways(let number, "us-east") in handle(.timeReached) { return number }
            }
            throw NoRenewal()
        }

        /// Redeems a renewal at the first gateway of a list without the present one, and returns the number of the change of
        /// the tunnel.
        mutating func move(to gateways: Gateway...) throws -> UInt64 {
            let number = try renew()
            _ = handle(.found(number, gateways))
            let effects = handle(.token(number + 1, [2]))
            #expect(effects == [.redeem(number + 2, token: [2], gateways[0])])
            #expect(
                handle(.redeemed(number + 2, "other", lasts: .seconds(3_600))) == [
                    .report(.connecting(.startingTunnel)), .keep("other"), .startTunnel(number + 3, "other"),
                ]
            )
            return number + 3
        }
    }

    @Test func `a connection takes a token, redeems it, keeps the configuration and ends with a handshake`() {
        var dialogue = Dialogue()
        #expect(
            dialogue.handle(.connect(location: "us-east")) == [
                .removeConfiguration, .report(.connecting(.findingGateway)), .findGateways(1, location: "us-east"),
            ]
        )
        #expect(
            dialogue.handle(.found(1, ["a"])) == [
                .report(.connecting(.takingToken)), .takeToken(2, isConfirmed: false),
            ]
        )
        #expect(
            dialogue.handle(.token(2, [7])) == [
                .report(.connecting(.redeeming)), .redeem(3, token: [7], "a"),
            ]
        )
        #expect(
            dialogue.handle(.redeemed(3, "lease", lasts: .seconds(3_600))) == [
                .report(.connecting(.startingTunnel)), .keep("lease"), .startTunnel(4, "lease"),
            ]
        )
        #expect(
            dialogue.handle(.started(4)) == [.report(.connecting(.shakingHands)), .wake(at: .seconds(15))]
        )
        dialogue.now = .seconds(1)
        #expect(dialogue.handle(.handshake(at: .seconds(1))) == [.report(.connected), .wake(at: .seconds(181))])
        #expect(
            dialogue.handle(.disconnect) == [
                .report(.disconnecting), .stopTunnel, .removeConfiguration, .report(.disconnected),
            ]
        )
    }

    @Test func `an outcome of an earlier operation changes nothing`() {
        var dialogue = Dialogue()
        _ = dialogue.connect()
        _ = dialogue.handle(.disconnect)
        for input: Machine.Input in [
            .token(2, [1]), .waits(2, until: nil), .needsConfirmation(2), .redeemed(2, "late", lasts: .seconds(9)),
            .started(2),
            .failed(2, .silentGateway), .found(1, ["a"]), .timeReached, .handshake(at: .zero), .confirm,
        ] {
            #expect(dialogue.handle(input) == [])
        }
        #expect(dialogue.machine.state == .disconnected)
    }

    @Test func `a token that is too new is awaited`() {
        var dialogue = Dialogue()
        _ = dialogue.connect()
        #expect(dialogue.handle(.waits(2, until: nil)) == [.report(.connecting(.waiting(until: nil)))])
        let time = Duration.seconds(90)
        #expect(dialogue.handle(.waits(2, until: time)) == [.report(.connecting(.waiting(until: time)))])
        #expect(dialogue.handle(.token(2, [7])) == [.report(.connecting(.redeeming)), .redeem(3, token: [7], "a")])
    }

    @Test(arguments: [true, false])
    func `a person may confirm the use of new tokens`(isAsked: Bool) {
        var dialogue = Dialogue()
        _ = dialogue.connect()
        _ = dialogue.handle(isAsked ? .needsConfirmation(2) : .waits(2, until: .seconds(90)))
        let number: UInt64 = isAsked ? 4 : 3
        #expect(
            dialogue.handle(.confirm) == [.report(.connecting(.takingToken)), .takeToken(number, isConfirmed: true)]
        )
    }

    @Test func `a confirmation that was not asked for changes nothing`() {
        var dialogue = Dialogue()
        #expect(dialogue.handle(.confirm) == [])
        _ = dialogue.connect()
        #expect(dialogue.handle(.confirm) == [])
    }

    @Test func `a gateway that refuses is followed by the next with another token, three in a connection`() {
        var dialogue = Dialogue()
        _ = dialogue.connect()
        var number: UInt64 = 2
        for gateway in ["a", "b"] {
            _ = dialogue.handle(.token(number, [1]))
            let effects = dialogue.handle(.failed(number + 1, .gatewayRefused(reason: "full")))
            #expect(effects == [.report(.connecting(.takingToken)), .takeToken(number + 3, isConfirmed: false)])
            #expect(dialogue.machine.state == .connecting(.takingToken), "after \(gateway)")
            number += 3
        }
        _ = dialogue.handle(.token(number, [1]))
        #expect(
            dialogue.handle(.failed(number + 1, .gatewayRefused(reason: "full"))) == [
                .report(.failed(.gatewayRefused(reason: "full")))
            ]
        )
    }

    @Test func `a gateway without a handshake in time loses its tunnel, and the next is tried`() {
        var dialogue = Dialogue()
        _ = dialogue.connect()
        _ = dialogue.handle(.token(2, [1]))
        _ = dialogue.handle(.redeemed(3, "first", lasts: .seconds(3_600)))
        _ = dialogue.handle(.started(4))
        dialogue.now = .seconds(15)
        #expect(
            dialogue.handle(.timeReached) == [
                .stopTunnel, .removeConfiguration, .report(.connecting(.takingToken)),
                .takeToken(6, isConfirmed: false),
            ]
        )
    }

    @Test(arguments: [
        VPNFailure.directoryRefused(reason: "forged"), .issuerKeyDiffers(reason: "two", report: nil), .noVoucher,
    ])
    func `a failure that no other gateway mends ends the connection`(failure: VPNFailure) {
        var dialogue = Dialogue()
        _ = dialogue.connect()
        #expect(dialogue.handle(.failed(2, failure)) == [.report(.failed(failure))])
        #expect(dialogue.handle(.connect(location: nil)).contains(.report(.connecting(.findingGateway))))
    }

    @Test func `a location without gateways is a failure`() {
        var dialogue = Dialogue()
        #expect(dialogue.connect([]) == [.report(.failed(.noGateway(location: "us-east")))])
    }

    @Test func `a gateway that stops to answer is reported, and its return too`() {
        var dialogue = Dialogue()
        dialogue.establish()
        dialogue.now = .seconds(100)
        #expect(dialogue.handle(.handshake(at: .seconds(100))) == [.wake(at: .seconds(280))])
        dialogue.now = .seconds(280)
        #expect(dialogue.handle(.timeReached).first == .report(.reconnecting))
        dialogue.now = .seconds(300)
        #expect(dialogue.handle(.handshake(at: .seconds(300))).first == .report(.connected))
    }

    @Test func `a lease is renewed at its gateway before it ends, while the tunnel stays`() throws {
        var dialogue = Dialogue()
        dialogue.establish()
        #expect(try dialogue.renew() == 6)
        #expect(dialogue.now == .seconds(3_300))
        // The directory prefers another gateway now.
        #expect(
            dialogue.handle(.found(6, ["b", Gateway("a", load: 9)])) == [.takeToken(7, isConfirmed: false)]
        )
        #expect(dialogue.handle(.token(7, [2])) == [.redeem(8, token: [2], Gateway("a", load: 9))])
        #expect(
            dialogue.handle(.redeemed(8, "second", lasts: .seconds(3_600))) == [
                .keep("second"), .updateTunnel(9, "second"),
            ]
        )
        #expect(dialogue.machine.state == .connected)
        #expect(dialogue.handle(.started(9)) == [.wake(at: .seconds(3_480))])
        #expect(dialogue.machine.renewalFailure == nil)
    }

    @Test func `a gateway that no longer is listed is left for another one`() throws {
        var dialogue = Dialogue()
        dialogue.establish()
        let number = try dialogue.move(to: "c")
        #expect(dialogue.handle(.started(number)).first == .report(.connecting(.shakingHands)))
        #expect(dialogue.handle(.handshake(at: dialogue.now)).first == .report(.connected))
        // The new lease is renewed at its gateway.
        let next = try dialogue.renew()
        _ = dialogue.handle(.found(next, ["a", "c"]))
        #expect(dialogue.handle(.token(next + 1, [3])) == [.redeem(next + 2, token: [3], "c")])
    }

    @Test(arguments: [nil, VPNFailure.tunnel(reason: "no permission")])
    func `a move to a gateway that completes no handshake goes back to the former lease`(failure: VPNFailure?) throws {
        var dialogue = Dialogue()
        dialogue.establish()
        let number = try dialogue.move(to: "c")
        let effects: [Machine.Effect]
        if let failure {
            effects = dialogue.handle(.failed(number, failure))
        } else {
            _ = dialogue.handle(.started(number))
            dialogue.now += Machine.handshakeLimit
            effects = dialogue.handle(.timeReached)
        }
        let again = number + 2
        #expect(
            effects == [.report(.connecting(.startingTunnel)), .keep("first"), .startTunnel(again, "first")]
        )
        _ = dialogue.handle(.started(again))
        #expect(dialogue.handle(.handshake(at: dialogue.now)).first == .report(.connected))
        #expect(dialogue.machine.renewalFailure == failure ?? .silentGateway)
        // The silent one costs no further token, and the lease ends when it would have.
        for _ in 0..<3 {
            let number = try dialogue.renew()
            #expect(dialogue.handle(.found(number, ["c"])) == [.wake(at: dialogue.now + Machine.renewalPause)])
        }
        while !dialogue.machine.state.hasEnded, dialogue.now < .seconds(4_000) {
            dialogue.now += .seconds(1)
            _ = dialogue.handle(.timeReached)
        }
        #expect(dialogue.now == .seconds(3_600))
        let reason = "\(failure ?? .silentGateway)"
        #expect(dialogue.machine.state == .failed(.leaseEnded(reason: reason)))
    }

    @Test func `without a former lease the next gateway is tried, with a token that is old enough`() throws {
        var dialogue = Dialogue()
        _ = dialogue.connect()
        _ = dialogue.handle(.waits(2, until: nil))
        _ = dialogue.handle(.confirm)
        _ = dialogue.handle(.token(3, [1]))
        _ = dialogue.handle(.redeemed(4, "first", lasts: .seconds(600)))
        _ = dialogue.handle(.started(5))
        _ = dialogue.handle(.handshake(at: dialogue.now))
        let number = try dialogue.move(to: "c", "d")
        _ = dialogue.handle(.started(number))
        dialogue.now += Machine.handshakeLimit
        _ = dialogue.handle(.timeReached)
        // The former gateway has ended meanwhile.
        _ = dialogue.handle(.started(number + 2))
        dialogue.now += Machine.handshakeLimit
        #expect(
            dialogue.handle(.timeReached) == [
                .stopTunnel, .removeConfiguration, .report(.connecting(.takingToken)),
                .takeToken(number + 4, isConfirmed: false),
            ]
        )
        #expect(dialogue.machine.isRenewing)
        #expect(dialogue.handle(.token(number + 4, [3])).last == .redeem(number + 5, token: [3], "d"))
    }

    @Test func `a gateway that refuses a renewal is tried last at the next attempt`() throws {
        var dialogue = Dialogue()
        dialogue.establish()
        let failure = VPNFailure.gatewayRefused(reason: "it drains")
        let first = try dialogue.renew()
        _ = dialogue.handle(.found(first, ["a", "b"]))
        _ = dialogue.handle(.token(first + 1, [2]))
        #expect(dialogue.handle(.failed(first + 2, failure)).last == .wake(at: dialogue.now + Machine.renewalPause))
        #expect(dialogue.machine.state == .connected && dialogue.machine.renewalFailure == failure)
        let second = try dialogue.renew()
        _ = dialogue.handle(.found(second, ["a", "b"]))
        #expect(dialogue.handle(.token(second + 1, [3])) == [.redeem(second + 2, token: [3], "b")])
        _ = dialogue.handle(.redeemed(second + 2, "other", lasts: .seconds(3_600)))
        #expect(dialogue.machine.renewalFailure == failure)
        _ = dialogue.handle(.started(second + 3))
        _ = dialogue.handle(.handshake(at: dialogue.now))
        #expect(dialogue.machine.renewalFailure == nil)
    }

    @Test func `a gateway is left after two requests without an answer`() throws {
        var dialogue = Dialogue()
        dialogue.establish()
        var tried: [Gateway] = []
        for _ in 0..<3 {
            let number = try dialogue.renew()
            _ = dialogue.handle(.found(number, ["a", "b"]))
            for case .redeem(let number, _, let gateway) in dialogue.handle(.token(number + 1, [2])) {
                tried.append(gateway)
                _ = dialogue.handle(.failed(number, .gatewayUnreachable(reason: "no route")))
            }
        }
        #expect(tried == ["a", "a", "b"])
        #expect(dialogue.machine.state == .connected)
    }

    @Test(arguments: [
        VPNFailure.directoryUnreachable(reason: "no route"), .issuerKeyDiffers(reason: "two", report: nil),
    ])
    func `a renewal without the directory uses the gateways that are known, and reports the reason`(
        failure: VPNFailure
    ) throws {
        var dialogue = Dialogue()
        dialogue.establish()
        let number = try dialogue.renew()
        #expect(dialogue.handle(.failed(number, failure)) == [.takeToken(number + 2, isConfirmed: false)])
        #expect(dialogue.handle(.token(number + 2, [2])) == [.redeem(number + 3, token: [2], "a")])
        _ = dialogue.handle(.redeemed(number + 3, "second", lasts: .seconds(3_600)))
        #expect(dialogue.machine.state == .connected && dialogue.machine.renewalFailure == failure)
    }

    @Test func `a list without gateways postpones a renewal`() throws {
        var dialogue = Dialogue()
        dialogue.establish()
        let number = try dialogue.renew()
        #expect(dialogue.handle(.found(number, [])).last == .wake(at: dialogue.now + Machine.renewalPause))
        #expect(dialogue.machine.renewalFailure == .noGateway(location: "us-east"))
        _ = dialogue.handle(.disconnect)
        #expect(dialogue.machine.renewalFailure == nil)
    }

    @Test func `a tunnel that cannot take a renewal ends the connection`() throws {
        var dialogue = Dialogue()
        dialogue.establish()
        let number = try dialogue.renew()
        _ = dialogue.handle(.found(number, ["a"]))
        _ = dialogue.handle(.token(number + 1, [2]))
        _ = dialogue.handle(.redeemed(number + 2, "second", lasts: .seconds(3_600)))
        let failure = VPNFailure.tunnel(reason: "no permission")
        #expect(
            dialogue.handle(.failed(number + 3, failure)) == [
                .report(.disconnecting), .stopTunnel, .removeConfiguration, .report(.failed(failure)),
            ]
        )
    }

    @Test func `a lease whose renewal waits for a token ends with that reason`() throws {
        var dialogue = Dialogue()
        dialogue.establish()
        let number = try dialogue.renew()
        _ = dialogue.handle(.found(number, ["a"]))
        #expect(dialogue.handle(.waits(number + 1, until: nil)) == [])
        dialogue.now = .seconds(3_600)
        _ = dialogue.handle(.timeReached)
        let reason = "no token in the wallet was old enough"
        #expect(dialogue.machine.state == .failed(.leaseEnded(reason: reason)))
    }

    @Test func `a renewal that fails is tried again, until the lease ends with the reason`() {
        var dialogue = Dialogue()
        dialogue.establish()
        var attempts = 0
        while !dialogue.machine.state.hasEnded, dialogue.now < .seconds(4_000) {
            dialogue.now += .seconds(10)
            _ = dialogue.handle(.handshake(at: dialogue.now))
            for case .findGateways(let number, _) in dialogue.handle(.timeReached) {
                attempts += 1
                _ = dialogue.handle(.found(number, ["a"]))
                _ = dialogue.handle(.failed(number + 1, .issuerUnreachable(reason: "no route")))
            }
        }
        #expect(dialogue.now == .seconds(3_600))
        #expect(attempts == 5)
        let reason = "\(VPNFailure.issuerUnreachable(reason: "no route"))"
        #expect(dialogue.machine.state == .failed(.leaseEnded(reason: reason)))
    }
}
