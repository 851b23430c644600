internal import Testing

@testable internal import ExitClient

@Suite("Connection sequence") struct VPNStateMachineTests {
    typealias Machine = VPNStateMachine<String, String>

    /// A machine whose operations end as a test decides.
    struct Dialogue {
        var machine = Machine()
        var now = Duration.zero

        mutating func handle(_ input: Machine.Input) -> [Machine.Effect] { machine.handle(input, at: now) }

        mutating func connect(_ gateways: [String] = ["a", "b", "c", "d"]) -> [Machine.Effect] {
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

    @Test func `a lease is renewed before it ends, while the tunnel stays`() {
        var dialogue = Dialogue()
        dialogue.establish()
        dialogue.now = .seconds(3_300)
        _ = dialogue.handle(.handshake(at: dialogue.now))
        #expect(dialogue.handle(.timeReached).first == .takeToken(6, isConfirmed: false))
        #expect(dialogue.handle(.token(6, [2])) == [.redeem(7, token: [2], "a")])
        #expect(
            dialogue.handle(.redeemed(7, "second", lasts: .seconds(3_600))) == [
                .keep("second"), .updateTunnel(8, "second"),
            ]
        )
        #expect(dialogue.machine.state == .connected)
        #expect(dialogue.handle(.started(8)) == [.wake(at: .seconds(3_480))])
    }

    @Test func `a renewal that fails is tried again, until the lease ends`() {
        var dialogue = Dialogue()
        dialogue.establish()
        var attempts = 0
        while dialogue.machine.state != .failed(.leaseEnded), dialogue.now < .seconds(4_000) {
            dialogue.now += .seconds(10)
            _ = dialogue.handle(.handshake(at: dialogue.now))
            for case .takeToken(let number, _) in dialogue.handle(.timeReached) {
                attempts += 1
                _ = dialogue.handle(.failed(number, .issuerUnreachable(reason: "no route")))
            }
        }
        #expect(dialogue.now == .seconds(3_600))
        #expect(attempts == 5)
        #expect(dialogue.machine.state == .failed(.leaseEnded))
    }
}
