internal import Bytes
internal import CryptoPrimitives
internal import HeapModule
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import WireGuard

/// Several interfaces over a network with loss, duplication, reordering and replay, on virtual time, from one seed.
///
/// It checks after each step that no packet is delivered twice, altered, or to or from a wrong peer, that no plaintext is in
/// a datagram, that no nonce repeats, and that the tables are bounded. It does not model MTU, congestion, or an attacker who
/// has a key.
final class Tunnels {
    /// The faults of the network.
    struct Faults {
        var loss = 0.0
        var duplication = 0.0
        var replay = 0.0
        var jitterMilliseconds = 0

        static let bad = Faults(loss: 0.1, duplication: 0.05, replay: 0.05, jitterMilliseconds: 300)
    }

    private struct Flight: Comparable {
        var time: Duration
        var order: Int
        var bytes: [UInt8]
        var source: SocketAddress
        var destination: SocketAddress

        static func < (left: Flight, right: Flight) -> Bool { (left.time, left.order) < (right.time, right.order) }
    }

    /// The bytes in the middle of each packet, which no datagram may contain.
    private static let marker = Array("plaintext of a packet".utf8)

    let seed: UInt64
    var nodes: [Node]
    var faults = Faults()
    /// The time of the simulation.
    private(set) var now = Duration.seconds(1_000)
    /// The part of the time that each node's monotonic clock has missed, and the error of its wall clock.
    private var slept: [Duration]
    var wallError: [Duration] {
        didSet { for index in nodes.indices { latestWallError[index] = max(latestWallError[index], wallError[index]) } }
    }
    private var latestWallError: [Duration]
    /// The nodes that neither send nor receive until then.
    private var asleep: [Duration?]
    private var random: SplitMix64
    private var flights = Heap<Flight>()
    private var captured: [Flight] = []
    private var nextOrder = 0
    private var nextPacket: UInt64 = 0
    private var outstanding: [UInt64: (from: Int, to: Int, packet: [UInt8])] = [:]
    private var nonces: Set<[UInt8]> = []
    private(set) var delivered = 0
    private(set) var sent = 0
    private(set) var initiations = 0
    /// The packets in datagrams of which the network passed no copy at first; a replay may bring one later.
    private(set) var lost = 0
    /// The sessions that the nodes reported, by the part in the handshake.
    private(set) var establishedSessions = (asInitiator: 0, asResponder: 0)
    /// The longest time between two packets that arrived at a node, by the node.
    private(set) var longestGaps: [Int: Duration] = [:]
    private var lastArrivals: [Int: Duration] = [:]

    init(_ count: Int, seed: UInt64) {
        self.seed = seed
        random = SplitMix64(seed: seed)
        nodes = (1...count).map { Node(UInt8($0)) }
        for index in nodes.indices { nodes[index].random = ScriptedRandom(seed: seed &* 100 &+ UInt64(index)) }
        slept = Array(repeating: .zero, count: count)
        wallError = Array(repeating: .zero, count: count)
        latestWallError = wallError
        asleep = Array(repeating: nil, count: count)
        for index in nodes.indices { configure(index) }
    }

    /// Gives a node all others as peers.
    private func configure(_ index: Int) {
        for other in nodes.indices where other != index {
            var change = WireGuardInterface.PeerChange()
            change.endpoint = nodes[other].endpoint
            change.allowedAddresses = [AddressPrefix(nodes[other].address, length: 32)].compactMap(\.self)
            feed(index, .configured(.peer(nodes[other].publicKey, change)))
        }
    }

    /// Sends a new packet; returns its number.
    @discardableResult func send(from: Int, to: Int) -> UInt64 {
        let number = nextPacket
        nextPacket += 1
        var writer = ByteWriter()
        writer.write(number)
        writer.write(Self.marker)
        writer.write(random.bytes(count: Int.random(in: 0...40, using: &random)))
        let packet = Packets.ipv4(from: nodes[from].address, to: nodes[to].address, payload: writer.bytes)
        outstanding[number] = (from, to, packet)
        guard asleep[from] == nil else { return number }
        sent += 1
        feed(from, .packetSent(packet))
        return number
    }

    /// Whether a packet has not arrived.
    func isOutstanding(_ number: UInt64) -> Bool { outstanding[number] != nil }

    /// Replaces a node's interface by a new one, as after a restart.
    ///
    /// The wall clock is then right at least: a node that restarts with an earlier clock cannot prove that its initiations are
    /// new, and the protocol has no remedy.
    func restart(_ index: Int) {
        wallError[index] = latestWallError[index]
        nodes[index].interface = WireGuardInterface(.init(privateKey: nodes[index].key))
        configure(index)
    }

    /// Moves a node to another port.
    func move(_ index: Int) { nodes[index].endpoint.port &+= 1 }

    /// Lets a node sleep; its monotonic clock stands meanwhile, unless `countsSleep`.
    func sleep(_ index: Int, for duration: Duration, countsSleep: Bool) {
        asleep[index] = now + duration
        if !countsSleep { slept[index] += duration }
    }

    /// Advances the time.
    func run(for duration: Duration) {
        let end = now + duration
        while let next = nextEvent(), next <= end {
            now = max(now, next)
            for index in nodes.indices {
                if let wakes = asleep[index], wakes <= now { asleep[index] = nil }
                if asleep[index] == nil, let due = deadline(of: index), due <= now { feed(index, .timeReached) }
            }
            while let flight = flights.min, flight.time <= now {
                flights.removeMin()
                arrive(flight)
            }
        }
        now = end
    }

    private func nextEvent() -> Duration? {
        let wakes = nodes.indices.compactMap { index in
            asleep[index] ?? deadline(of: index)
        }
        return (wakes + [flights.min?.time].compactMap(\.self)).min()
    }

    private func deadline(of index: Int) -> Duration? {
        nodes[index].interface.nextDeadline.map { $0 + slept[index] }
    }

    private func arrive(_ flight: Flight) {
        guard let index = nodes.firstIndex(where: { $0.endpoint == flight.destination }), asleep[index] == nil else {
            return
        }
        feed(index, .datagramReceived(flight.bytes, from: flight.source))
    }

    private func feed(_ index: Int, _ input: WireGuardInterface.Input) {
        let moment = Moment(monotonic: now - slept[index], wall: now + wallError[index] + Pair.start)
        for effect in nodes[index].handle(input, at: moment) {
            switch effect {
            case .send(let bytes, let destination): transmit(bytes, from: index, to: destination)
            case .deliver(let packet, let peer): check(packet, from: peer, at: index)
            case .report(.sessionEstablished(_, let isInitiator)):
                if isInitiator { establishedSessions.asInitiator += 1 } else { establishedSessions.asResponder += 1 }
            case .report: break
            }
        }
        let interface = nodes[index].interface
        let peers = nodes.count - 1
        #expect(
            interface.sessions.sessionCount <= 4 * peers && interface.sessions.indexCount <= 5 * peers,
            "seed \(seed)"
        )
        #expect(interface.staged.count <= 32 * peers, "seed \(seed)")
    }

    private func transmit(_ bytes: [UInt8], from index: Int, to destination: SocketAddress) {
        if bytes[0] == 1 { initiations += 1 }
        if bytes[0] == 4 {
            // The index of the receiver, which is random, and the counter.
            #expect(nonces.insert([UInt8(index)] + bytes[4..<16]).inserted, "seed \(seed): a nonce repeats at \(now)")
        }
        #expect(bytes.firstRange(of: Self.marker) == nil, "seed \(seed): plaintext in a datagram at \(now)")
        let flight = Flight(
            time: now,
            order: 0,
            bytes: bytes,
            source: nodes[index].endpoint,
            destination: destination
        )
        if captured.count < 500 { captured.append(flight) } else { captured[nextOrder % 500] = flight }
        let (passes, isDuplicated) = (!decide(faults.loss), decide(faults.duplication))
        if passes { launch(flight) }
        if isDuplicated { launch(flight) }
        // A transport message without a packet has 32 bytes.
        if !passes, !isDuplicated, bytes[0] == 4, bytes.count > 32 { lost += 1 }
        if decide(faults.replay), let old = captured.randomElement(using: &random) { launch(old) }
    }

    private func launch(_ flight: Flight) {
        var flight = flight
        flight.time = now + .milliseconds(20 + Int.random(in: 0...faults.jitterMilliseconds, using: &random))
        flight.order = nextOrder
        nextOrder += 1
        flights.insert(flight)
    }

    private func decide(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    private func check(_ packet: [UInt8], from peer: X25519PublicKey, at index: Int) {
        let number = packet.dropFirst(20).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let expected = outstanding.removeValue(forKey: number) else {
            Issue.record("seed \(seed): the packet \(number) arrived twice, or was never sent")
            return
        }
        #expect(expected.packet == packet && expected.to == index, "seed \(seed)")
        #expect(nodes[expected.from].publicKey == peer, "seed \(seed)")
        delivered += 1
        if let last = lastArrivals[index] { longestGaps[index] = max(longestGaps[index] ?? .zero, now - last) }
        lastArrivals[index] = now
    }
}
