#if os(Linux)
internal import CryptoPrimitives
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing
internal import Tunnel
internal import WireGuard

/// Our WireGuard value against wireguard-go: datagrams inside IPv4 packets, in both directions and both roles.
@Suite(
    "WireGuard with wireguard-go",
    .enabled(if: WireGuardGo.obstacle == nil, Comment(rawValue: WireGuardGo.obstacle ?? "")),
    .timeLimit(.minutes(5))
) struct WireGuardGoTests {
    private static let ourPort: UInt16 = 9_000

    /// Sends a text from our value to the socket inside the tunnel, and an answer back.
    private func exchange(_ text: String, _ ours: inout DatagramPeer, _ inner: SpaceSocket) throws {
        let payload = [UInt8](text.utf8)
        let request = InnerDatagram(
            from: (WireGuardGo.otherAddress, Self.ourPort),
            to: (WireGuardGo.address, inner.port),
            payload
        )
        ours.send(request.packet)
        let received = try #require(ours.run { _ in inner.receive(within: .milliseconds(1)) })
        #expect(received.bytes == payload)
        #expect(received.address == WireGuardGo.otherAddress)
        #expect(received.port == Self.ourPort)
        let answer = Array(payload.reversed())
        inner.send(answer, to: WireGuardGo.otherAddress, Self.ourPort)
        let returned = try #require(ours.packet { $0.payload == answer })
        #expect(returned.source == (WireGuardGo.address, inner.port))
    }

    @Test(arguments: [false, true]) func `our initiation makes a session that carries packets both ways`(
        hasPresharedKey: Bool
    ) async throws {
        let other = try await WireGuardGo()
        var ours = DatagramPeer(try await other.outerSocket())
        var random = SystemRandom()
        let preshared = hasPresharedKey ? PresharedKey(using: &random) : .zero
        try await other.add(ours, knowsPort: false, preshared: preshared)
        try ours.add(other.key.publicKey, port: try await other.port(), preshared: preshared)
        let inner = try await other.innerSocket()
        for round in 0..<3 { try exchange("round \(round)", &ours, inner) }
        #expect(ours.events == [.sessionEstablished(other.key.publicKey, isInitiator: true)])
        let peer = try #require(try await other.client.device().peers.first)
        #expect(peer.lastHandshake != nil)
        #expect(peer.endpoint?.port == ours.socket.port)
        #expect(peer.presharedKey == preshared)
    }

    @Test func `an initiation of wireguard-go is answered`() async throws {
        let other = try await WireGuardGo()
        var ours = DatagramPeer(try await other.outerSocket())
        try ours.add(other.key.publicKey, port: nil)
        try await other.add(ours, knowsPort: true)
        let inner = try await other.innerSocket()
        inner.send([1, 2, 3], to: WireGuardGo.otherAddress, Self.ourPort)
        #expect(try #require(ours.packet { _ in true }).payload == [1, 2, 3])
        #expect(ours.events.contains(.sessionEstablished(other.key.publicKey, isInitiator: false)))
        try exchange("after the answer", &ours, inner)
    }

    @Test func `a session is renewed by us after 120 seconds and carries packets meanwhile`() async throws {
        let other = try await WireGuardGo()
        var ours = DatagramPeer(try await other.outerSocket())
        try await other.add(ours, knowsPort: false)
        try ours.add(other.key.publicKey, port: try await other.port())
        let inner = try await other.innerSocket()
        try exchange("first session", &ours, inner)
        // wireguard-go drops an initiation within 50 ms of the last one.
        ours.run(for: .milliseconds(60))
        // Only the clocks of our side are ahead.
        ours.advance(by: .seconds(121))
        try exchange("renewal", &ours, inner)
        #expect(ours.run { $0.sessionCount(isInitiator: true) == 2 ? true : nil } == true)
        try exchange("second session", &ours, inner)
    }

    @Test(.enabled(if: LongTests.areRun, "wireguard-go renews a session after 120 seconds: make test-long"))
    func `a session is renewed by wireguard-go after 120 seconds and loses no packet`() async throws {
        let other = try await WireGuardGo()
        var ours = DatagramPeer(try await other.outerSocket())
        try ours.add(other.key.publicKey, port: nil)
        try await other.add(ours, knowsPort: true)
        let inner = try await other.innerSocket()
        inner.send([0], to: WireGuardGo.otherAddress, Self.ourPort)
        #expect(try #require(ours.packet { _ in true }).payload == [0])
        let first = try #require(try await other.client.device().peers.first?.lastHandshake)
        // A round takes a second at least, and the first session expires after 180.
        var round = 0
        while ours.sessionCount(isInitiator: false) < 2, round < 180 {
            try exchangeSeveral(round, &ours, inner)
            ours.run(for: .seconds(1))
            round += 1
        }
        for later in 0..<5 { try exchangeSeveral(round + later, &ours, inner) }
        #expect(ours.sessionCount(isInitiator: false) == 2)
        #expect(ours.sessionCount(isInitiator: true) == 0)
        // Two initiations and no response: wireguard-go began both handshakes.
        #expect(ours.receivedTypes[1] == 2 && ours.receivedTypes[2] == nil)
        #expect(try #require(try await other.client.device().peers.first?.lastHandshake) > first)
    }

    /// Sends several datagrams in both directions and requires each of them once.
    private func exchangeSeveral(_ round: Int, _ ours: inout DatagramPeer, _ inner: SpaceSocket) throws {
        let payloads = (0..<5).map { Array("round \(round), datagram \($0)".utf8) }
        for payload in payloads {
            inner.send(payload, to: WireGuardGo.otherAddress, Self.ourPort)
            let request = InnerDatagram(
                from: (WireGuardGo.otherAddress, Self.ourPort),
                to: (WireGuardGo.address, inner.port),
                payload
            )
            ours.send(request.packet)
        }
        var (left, entered): ([[UInt8]], [[UInt8]]) = ([], [])
        for _ in payloads {
            entered.append(try #require(ours.run { _ in inner.receive(within: .milliseconds(1)) }).bytes)
            left.append(try #require(ours.packet { _ in true }).payload)
        }
        // Two sessions may be in use at a renewal, so the order is not fixed.
        for arrived in [left, entered] { #expect(Set(arrived) == Set(payloads), "round \(round)") }
    }

    @Test func `a session continues when our port changes`() async throws {
        let other = try await WireGuardGo()
        var ours = DatagramPeer(try await other.outerSocket())
        try await other.add(ours, knowsPort: false)
        try ours.add(other.key.publicKey, port: try await other.port())
        let inner = try await other.innerSocket()
        try exchange("before", &ours, inner)
        let moved = try await other.outerSocket()
        ours.move(to: moved)
        try exchange("after", &ours, inner)
        #expect(ours.events == [.sessionEstablished(other.key.publicKey, isInitiator: true)])
        #expect(try await other.client.device().peers.first?.endpoint?.port == moved.port)
    }

    @Test func `a session continues when the port of wireguard-go changes`() async throws {
        let other = try await WireGuardGo()
        var ours = DatagramPeer(try await other.outerSocket())
        try await other.add(ours, knowsPort: false)
        try ours.add(other.key.publicKey, port: try await other.port())
        let inner = try await other.innerSocket()
        try exchange("before", &ours, inner)
        var change = UAPIConfiguration()
        change.listenPort = 0
        let former = try await other.port()
        try await other.client.apply(change)
        #expect(try await other.port() != former)
        // Our side learns the new port from the next packet.
        inner.send([7], to: WireGuardGo.otherAddress, Self.ourPort)
        #expect(try #require(ours.packet { _ in true }).payload == [7])
        try exchange("after", &ours, inner)
    }

    @Test func `an initiation to wireguard-go under load is repeated with its cookie`() async throws {
        let other = try await WireGuardGo()
        var ours = DatagramPeer(try await other.outerSocket())
        try await other.add(ours, knowsPort: false)
        let port = try await other.port()
        try ours.add(other.key.publicKey, port: port)
        let inner = try await other.innerSocket()
        try exchange("before", &ours, inner)
        ours.run(for: .milliseconds(60))
        let flooder = try await other.outerSocket()
        let initiation = try #require(ours.firstSent)
        ours.advance(by: .seconds(121))
        // A replayed initiation costs as much as a new one; a part of them is lost, as are some of ours.
        for round in 0..<50 where ours.receivedTypes[3] == nil {
            for _ in 0..<400 { flooder.send(initiation, to: DatagramPeer.loopback, port) }
            // Its socket has room again, at some time of the second for which it counts itself as under load.
            ours.run(for: .milliseconds(20 + 40 * (round % 10)))
            ours.advance(by: .seconds(6))
            ours.send(packet(to: inner))
            ours.run(for: .milliseconds(50))
        }
        #expect(ours.receivedTypes[3] != nil)
        for _ in 0..<50 where ours.sessionCount(isInitiator: true) < 2 {
            ours.advance(by: .seconds(6))
            ours.send(packet(to: inner))
            ours.run(for: .milliseconds(100))
        }
        #expect(ours.sessionCount(isInitiator: true) >= 2)
    }

    @Test func `under load wireguard-go repeats its initiation with our cookie`() async throws {
        let other = try await WireGuardGo()
        var ours = DatagramPeer(try await other.outerSocket())
        ours.reportLoad()
        try ours.add(other.key.publicKey, port: nil)
        try await other.add(ours, knowsPort: true)
        let inner = try await other.innerSocket()
        inner.send([1, 2, 3], to: WireGuardGo.otherAddress, Self.ourPort)
        // It repeats after five seconds, and again if the cookie was late.
        #expect(try #require(ours.packet { _ in true }).payload == [1, 2, 3])
        #expect(ours.receivedTypes[1, default: 0] >= 2)
        #expect(ours.firstSent?.first == 3)
        #expect(ours.sessionCount(isInitiator: false) == 1)
    }

    private func packet(to inner: SpaceSocket) -> [UInt8] {
        InnerDatagram(from: (WireGuardGo.otherAddress, Self.ourPort), to: (WireGuardGo.address, inner.port), [0]).packet
    }
}
#endif
