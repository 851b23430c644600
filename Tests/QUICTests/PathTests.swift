internal import Concurrency
internal import Identity
internal import TestSupport
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// Connections that change their path: through a relay, to another address, from a further port.
@Suite("Paths", .timeLimit(.minutes(15))) struct PathTests {
    /// The size of a dialler's first datagram on a channel, an Initial in its header.
    ///
    /// The relay's own packets have other sizes.
    private static let forwardedInitial = 1_200 + ChannelId(0).header.count

    /// Two peers that are both connected to a third one.
    private struct Triangle {
        let relay: QUICEndpoint
        let dialler: QUICEndpoint
        let listener: QUICEndpoint
        let channels = (ChannelId(0x11), ChannelId(0x22))
        /// The addresses that neither the dialler nor the listener can send to.
        let blocked = Locked<Set<SocketAddress>>([])
        /// The sizes of the datagrams that the relay sent since it began to relay.
        let forwarded = Locked<[Int]>([])
        /// The datagrams that the relay sent since it began to relay.
        let datagrams = Locked<[[UInt8]]>([])
        /// The connections to the relay, of both, and the relay's ends of them.
        private let held: [any Connection]
        private let ends: [RelayEnd]

        init() async throws {
            let (blocked, forwarded, datagrams) = (blocked, forwarded, datagrams)
            let relay = try loopbackEndpoint {
                $0.seams.fault = { _, byteCount, _ in
                    forwarded.withLock { $0.append(byteCount) }
                    return 0
                }
                $0.seams.tap = { _, datagram in datagrams.withLock { $0.append(datagram) } }
            }
            let block: @Sendable (SocketAddress, Int, Int) -> Int32 = { to, _, _ in
                blocked.withLock { $0.contains(to) } ? 1 : 0
            }
            let endpoints = try (0..<2).map { _ in try loopbackEndpoint { $0.seams.fault = block } }
            var (held, ends): ([any Connection], [RelayEnd]) = ([], [])
            for (endpoint, channel) in zip(endpoints, [channels.0, channels.1]) {
                let link = try await endpoint.connect(to: try address(of: relay), expecting: relay.localPeerId)
                endpoint.openChannel(channel, over: link)
                held.append(link)
                ends.append(RelayEnd(channel: channel, connection: try #require(try await relay.accept())))
            }
            (self.relay, dialler, listener) = (relay, endpoints[0], endpoints[1])
            (self.held, self.ends) = (held, ends)
        }

        func beginRelaying(bytesPerSecond: Int = 1 << 30) {
            forwarded.withLock { $0 = [] }
            datagrams.withLock { $0 = [] }
            relay.relay(ends[0], ends[1], bytesPerSecond: bytesPerSecond)
        }

        /// A connection through the relay, seen from both sides.
        func connect() async throws -> (any Connection, any Connection) {
            async let accepted = listener.accept()
            let dialled = try await dialler.connect(to: channels.0.address, expecting: listener.localPeerId)
            return (dialled, try #require(try await accepted))
        }

        /// Both directions between the two.
        func block(_ isBlocked: Bool) throws {
            let both = Set([try address(of: dialler), try address(of: listener)])
            blocked.withLock { $0 = isBlocked ? both : [] }
        }

        func close() async {
            for endpoint in [dialler, listener, relay] { await endpoint.close(code: 0) }
        }
    }

    /// Waits for an event of a connection's path.
    private func wait(for event: PathEvent, on connection: any Connection) async {
        for await found in connection.pathEvents where found == event { return }
        Issue.record("the connection ended without \(event)")
    }

    /// Waits until a connection has moved.
    ///
    /// A path that is refused, as by a busy machine, is tried again.
    private func waitForMove(to target: SocketAddress, from port: UInt16? = nil, on connection: any Connection) async {
        for await found in connection.pathEvents {
            if found == .moved(target) { return }
            if found == .refused(target) { connection.migrate(to: target, from: port) }
        }
        Issue.record("the connection ended before it moved to \(target)")
    }

    /// Sends bytes and reads them back from the side that accepted the connection.
    private func echo(_ count: Int, over dialled: any Connection, _ accepted: any Connection) async throws {
        let sent = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        async let answered: Void = {
            let stream = try #require(try await accepted.acceptStream())
            var isFinal = false
            while !isFinal {
                let piece = try await stream.read(atMost: 65_536)
                isFinal = piece.isFinal
                try await stream.write(piece.bytes, finish: isFinal)
            }
        }()
        let stream = try dialled.openStream()
        async let written: Void = stream.write(sent, finish: true)
        var received: [UInt8] = []
        var isFinal = false
        while !isFinal {
            let piece = try await stream.read(atMost: 65_536)
            received += piece.bytes
            isFinal = piece.isFinal
        }
        _ = try await (answered, written)
        #expect(received == sent)
    }

    @Test func `two peers talk through a relay that cannot read them`() async throws {
        let triangle = try await Triangle()
        triangle.beginRelaying()
        try triangle.block(true)
        let (dialled, accepted) = try await triangle.connect()
        #expect(dialled.remoteAddress == triangle.channels.0.address)
        #expect(accepted.remoteAddress == triangle.channels.1.address)
        #expect(accepted.remotePeerId == triangle.dialler.localPeerId)
        try await echo(1_000_000, over: dialled, accepted)
        // The beginning of the 256 bytes that `echo` repeats: each full packet in clear would have it.
        let run = (0..<16).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let relayed = triangle.datagrams.withLock { $0 }.reduce(into: [UInt8]()) { $0 += $1 }
        #expect(relayed.count > 2_000_000)
        #expect(!occurs(run, in: relayed))
        #expect(occurs(run, in: relayed + run))
        await triangle.close()
    }

    @Test func `a relayed connection becomes direct and falls back without losing a byte`() async throws {
        let triangle = try await Triangle()
        triangle.beginRelaying()
        let (dialled, accepted) = try await triangle.connect()
        let direct = try address(of: triangle.listener)
        async let moved: Void = waitForMove(to: direct, on: dialled)
        dialled.migrate(to: direct, from: nil)
        try await echo(200_000, over: dialled, accepted)
        await moved
        #expect(dialled.remoteAddress == direct)
        try await echo(200_000, over: dialled, accepted)
        #expect(accepted.remoteAddress == (try address(of: triangle.dialler)))
        try triangle.block(true)
        async let echoed: Void = echo(200_000, over: dialled, accepted)
        var events = dialled.pathEvents.makeAsyncIterator()
        while let event = await events.next(), event != .suspect {}
        dialled.migrate(to: triangle.channels.0.address, from: nil)
        while let event = await events.next(), event != .answered {}
        try await echoed
        #expect(dialled.remoteAddress == triangle.channels.0.address)
        await triangle.close()
    }

    @Test func `a silent path is refused, and the connection stays on its own`() async throws {
        let triangle = try await Triangle()
        triangle.beginRelaying()
        let (dialled, accepted) = try await triangle.connect()
        let dead = try await SilentPort.shared.address(on: "127.0.0.1")
        dialled.migrate(to: dead, from: nil)
        try await echo(100_000, over: dialled, accepted)
        await wait(for: .refused(dead), on: dialled)
        #expect(dialled.remoteAddress == triangle.channels.0.address)
        try await echo(100_000, over: dialled, accepted)
        await triangle.close()
    }

    @Test func `five paths may fail before one works, even with repeated requests for one`() async throws {
        let triangle = try await Triangle()
        triangle.beginRelaying()
        let (dialled, accepted) = try await triangle.connect()
        let ports = await triangle.listener.openPorts(count: 5)
        let further = try ports.map { try SocketAddress(parsing: "127.0.0.1:\($0)") }
        try await echo(1_000, over: dialled, accepted)
        // The listener's packets do not arrive, so it issues no further connection IDs.
        triangle.relay.stopRelaying(triangle.channels.0)
        let dialler = try address(of: triangle.dialler)
        triangle.blocked.withLock { $0 = Set(further + [dialler]) }
        for target in further.dropLast() {
            for _ in 0..<10 { dialled.migrate(to: target, from: nil) }
        }
        for _ in 0..<10 { dialled.migrate(to: further[4], from: nil) }
        triangle.blocked.withLock { $0 = [] }
        async let moved: Void = waitForMove(to: further[4], on: dialled)
        try await echo(50_000, over: dialled, accepted)
        await moved
        await triangle.close()
    }

    @Test func `a connection without another path ends at once when its own is dead`() async throws {
        let triangle = try await Triangle()
        triangle.beginRelaying()
        let (dialled, accepted) = try await triangle.connect()
        let ports = await triangle.listener.openPorts(count: 8)
        let further = try ports.map { try SocketAddress(parsing: "127.0.0.1:\($0)") }
        try await echo(1_000, over: dialled, accepted)
        triangle.relay.stopRelaying(triangle.channels.0)
        let dialler = try address(of: triangle.dialler)
        triangle.blocked.withLock { $0 = Set(further + [dialler]) }
        let stream = try dialled.openStream()
        try await stream.write([1], finish: true)
        var events = dialled.pathEvents.makeAsyncIterator()
        while let event = await events.next(), event != .suspect {}
        for target in further { dialled.migrate(to: target, from: nil) }
        await #expect(throws: TransportError.timedOut) { _ = try await stream.read(atMost: 1) }
        await triangle.close()
    }

    @Test func `a connection may leave a pair of addresses and return to it`() async throws {
        let triangle = try await Triangle()
        triangle.beginRelaying()
        let (dialled, accepted) = try await triangle.connect()
        let ports = await triangle.listener.openPorts(count: 2)
        #expect(ports.count == 2)
        let further = try ports.map { try SocketAddress(parsing: "127.0.0.1:\($0)") }
        for target in [
            further[0], further[1], try address(of: triangle.listener), further[0], triangle.channels.0.address,
        ] {
            async let moved: Void = waitForMove(to: target, on: dialled)
            dialled.migrate(to: target, from: nil)
            try await echo(50_000, over: dialled, accepted)
            await moved
            #expect(dialled.remoteAddress == target)
        }
        await triangle.close()
    }

    @Test func `a further port becomes a connection's own, and the others close`() async throws {
        let triangle = try await Triangle()
        triangle.beginRelaying()
        let (dialled, accepted) = try await triangle.connect()
        let ports = await triangle.dialler.openPorts(count: 255)
        #expect(ports.count == 255)
        let direct = try address(of: triangle.listener)
        async let moved: Void = waitForMove(to: direct, from: ports[17], on: dialled)
        dialled.migrate(to: direct, from: ports[17])
        try await echo(100_000, over: dialled, accepted)
        await moved
        triangle.dialler.closePorts(ports)
        try await echo(100_000, over: dialled, accepted)
        #expect(accepted.remoteAddress.port == ports[17])
        await triangle.close()
    }

    @Test func `an abandoned port is closed after the packet by which a connection ended, not under it`() async throws {
        let triangle = try await Triangle()
        triangle.beginRelaying()
        let (dialled, accepted) = try await triangle.connect()
        let ports = await triangle.dialler.openPorts(count: 3)
        #expect(ports.count == 3)
        let (own, direct) = (try address(of: triangle.dialler), try address(of: triangle.listener))
        while accepted.remoteAddress.port != ports[0] {
            dialled.migrate(to: direct, from: ports[0])
            try await echo(1000, over: dialled, accepted)
        }
        // Closed but for the first, which is closed with the next connection that vanishes.
        triangle.dialler.closePorts(ports)
        while accepted.remoteAddress != own {
            dialled.migrate(to: direct, from: nil)
            try await echo(1000, over: dialled, accepted)
        }
        // A long header of version 1 with random IDs: the connection that it begins vanishes as its payload is read.
        let initial = [0xC3, 0, 0, 0, 1, 8] + [UInt8](repeating: 7, count: 8) + [8] + [UInt8](repeating: 9, count: 8)
        #expect(try RawSocket().send(initial + [0, 0x44, 0xA0] + [UInt8](repeating: 5, count: 1184), to: own))
        try await echo(100_000, over: dialled, accepted)
        #expect(dialled.remoteAddress == direct)
        await triangle.close()
    }

    @Test func `a further port sends and receives datagrams that are not QUIC`() async throws {
        let sender = try loopbackEndpoint()
        let receiver = try loopbackEndpoint()
        let here = try #require(await sender.openPorts(count: 1).first)
        let there = try #require(await receiver.openPorts(count: 1).first)
        sender.sendForeignDatagram([0, 1, 2], to: try SocketAddress(parsing: "127.0.0.1:\(there)"), from: here)
        for await datagram in receiver.foreignDatagrams {
            #expect(
                datagram
                    == ForeignDatagram(
                        bytes: [0, 1, 2],
                        source: try SocketAddress(parsing: "127.0.0.1:\(here)"),
                        port: there
                    )
            )
            break
        }
        await sender.close(code: 0)
        await receiver.close(code: 0)
    }

    @Test func `an unopened channel is no address`() async throws {
        let endpoint = try loopbackEndpoint()
        await #expect(throws: TransportError.self) {
            _ = try await endpoint.connect(to: ChannelId(7).address, expecting: endpoint.localPeerId)
        }
        await endpoint.close(code: 0)
    }

    @Test func `a relay forwards only from a peer's own address`() async throws {
        let triangle = try await Triangle()
        triangle.beginRelaying()
        let datagram = [0x30] + triangle.channels.0.bytes + [0x40] + [UInt8](repeating: 0, count: 777)
        // The relay has begun.
        let (dialled, accepted) = try await triangle.connect()
        #expect(try RawSocket().send(datagram, to: try address(of: triangle.relay)))
        triangle.dialler.sendForeignDatagram(datagram + [0], to: try address(of: triangle.relay))
        while !triangle.forwarded.withLock({ $0.contains(datagram.count + 1) }) {
            try await echo(1_000, over: dialled, accepted)
        }
        let sizes = triangle.forwarded.withLock { $0 }
        #expect(sizes.contains(Self.forwardedInitial))
        #expect(!sizes.contains(datagram.count))
        await triangle.close()
    }

    @Test func `a relay forwards no more than its limit`() async throws {
        let triangle = try await Triangle()
        // A quarter of a second's worth at once, which is less than a handshake.
        triangle.beginRelaying(bytesPerSecond: 1_000)
        await #expect(throws: TransportError.self) { _ = try await triangle.connect() }
        #expect(!triangle.forwarded.withLock { $0 }.contains(Self.forwardedInitial))
        await triangle.close()
    }
}
