internal import Concurrency
internal import CryptoPrimitives
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Tunnel
@testable internal import WireGuard

/// An engine's value under attack, with an honest peer that has a session.
@Suite("Hostile datagrams") struct HostileCoreTests {
    /// The attacked engine, and the honest peer as a value.
    private final class Attacked {
        let core: EngineCore
        let key: X25519PrivateKey
        var peer: WireGuardInterface
        var random = SplitMix64(seed: 7)
        var datagrams = DatagramBatch()
        var work = OpeningWork()
        var opened = OpenedBatch()
        private let moment = Moment(monotonic: .seconds(100), wall: .seconds(1_800_000_000))
        private let place: SocketAddress
        private let peerPlace: SocketAddress

        init() throws {
            let moment = moment
            core = try #require(EngineCore { moment })
            key = X25519PrivateKey(using: &random)
            let peerKey = X25519PrivateKey(using: &random)
            place = try #require(SocketAddress("192.0.2.1:51820"))
            peerPlace = try #require(SocketAddress("192.0.2.2:51820"))
            peer = WireGuardInterface(.init(privateKey: peerKey))
            var change = WireGuardInterface.PeerChange()
            change.endpoint = place
            change.allowedAddresses = [try #require(AddressPrefix(.v4(0x0A42_0001), length: 32))]
            _ = peer.handle(.configured(.peer(key.publicKey, change)), at: moment, using: &random)
            var configured = UAPIConfiguration.PeerChange(publicKey: peerKey.publicKey)
            configured.endpoint = peerPlace
            configured.allowedAddresses = [try #require(AddressPrefix(.v4(0x0A42_0002), length: 32))]
            var configuration = UAPIConfiguration()
            configuration.privateKey = .replace(key)
            configuration.peers = [configured]
            core.apply(configuration)
        }

        /// Processes datagrams as the thread of the sockets does.
        func receive(_ all: [(bytes: [UInt8], source: SocketAddress)]) -> [WireGuardInterface.Effect] {
            datagrams.removeAll()
            for (bytes, source) in all { datagrams.append(bytes, endpoint: source) }
            var effects: [WireGuardInterface.Effect] = []
            core.withInterface { interface, _, _ in interface.lookUp(datagrams, into: &work) }
            work.open(&datagrams, into: &opened)
            core.withInterface { interface, random, moment in
                interface.accept(&opened, of: datagrams, at: moment, using: &random, effects: &effects)
                interface.handleHandshakes(of: work, datagrams, at: moment, using: &random, effects: &effects)
            }
            return effects
        }

        /// The datagrams of the honest peer for one packet inside the tunnel.
        func packet() -> [(bytes: [UInt8], source: SocketAddress)] {
            let head: [UInt8] = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 66, 0, 2, 10, 66, 0, 1]
            return sent(peer.handle(.packetSent(head), at: moment, using: &random))
        }

        /// Gives the engine's datagrams to the honest peer, and returns its answers.
        func answer(_ effects: [WireGuardInterface.Effect]) -> [(bytes: [UInt8], source: SocketAddress)] {
            var answers: [(bytes: [UInt8], source: SocketAddress)] = []
            for case .send(let bytes, let endpoint) in effects where endpoint == peerPlace {
                answers += sent(peer.handle(.datagramReceived(bytes, from: place), at: moment, using: &random))
            }
            return answers
        }

        /// Establishes the session of the honest peer.
        func connect() {
            _ = receive(answer(receive(packet())))
            #expect(opened.deliveries.count == 1)
        }

        var drops: DropCounts { core.withInterface { interface, _, _ in interface.drops } }

        var indexCount: Int { core.withInterface { interface, _, _ in interface.sessions.indexCount } }

        private func sent(_ effects: [WireGuardInterface.Effect]) -> [(bytes: [UInt8], source: SocketAddress)] {
            effects.compactMap { effect in
                guard case .send(let bytes, _) = effect else { return nil }
                return (bytes, peerPlace)
            }
        }
    }

    @Test func `a flood of initiations from many sources makes no state, and a peer's packets pass`() throws {
        let attacked = try Attacked()
        attacked.connect()
        let indices = attacked.indexCount
        var messages = HostileMessages(against: attacked.key.publicKey, seed: 1)
        var (replies, delivered) = (0, 0)
        for _ in 0..<60 {
            var batch = (0..<200).map { _ in (bytes: messages.initiation(), source: messages.source()) }
            batch.insert(contentsOf: attacked.packet(), at: 100)
            for effect in attacked.receive(batch) {
                guard case .send(let bytes, _) = effect else { continue }
                // A reply is shorter than its cause, so that reflection does not amplify a flood.
                #expect(bytes.count == 64 && bytes.first == 3)
                replies += 1
            }
            delivered += attacked.opened.deliveries.count
        }
        #expect(delivered == 60)
        let limits = WireGuardInterface.Limits()
        #expect(replies <= limits.cookieRepliesPerSecond)
        #expect(attacked.drops.forged == UInt64(limits.handshakesAtOnce) - 1)
        #expect(attacked.drops.overloaded == UInt64(12_000 - limits.handshakesAtOnce + 1))
        #expect(attacked.indexCount == indices)
        attacked.core.withInterface { interface, _, _ in
            #expect(interface.peerCount == 1 && interface.staged.count == 0)
            #expect(interface.load.sourceCount == 0, "only proven sources have an entry")
        }
    }

    @Test func `each datagram that is no message is dropped once and without an answer`() throws {
        let attacked = try Attacked()
        attacked.connect()
        let indices = attacked.indexCount
        var messages = HostileMessages(against: attacked.key.publicKey, seed: 2)
        var all = (0...2_000).map { (bytes: messages.junk(count: $0), source: messages.source()) }
        for count in 32...200 { all.append((messages.transport(count: count), messages.source())) }
        for _ in 0..<100 {
            all.append((messages.cookieReply(), messages.source()))
            all.append((messages.response(), messages.source()))
        }
        for point in HostileMessages.lowOrderPoints {
            all.append((messages.initiation(ephemeral: point), messages.source()))
        }
        #expect(attacked.receive(all).isEmpty)
        let drops = attacked.drops
        let counted = drops.malformed + drops.wrongCode + drops.unknownIndex + drops.forged
        #expect(counted == UInt64(all.count))
        #expect(drops.forged == UInt64(HostileMessages.lowOrderPoints.count))
        #expect(attacked.indexCount == indices && attacked.opened.deliveries.isEmpty)
        _ = attacked.receive(attacked.packet())
        #expect(attacked.opened.deliveries.count == 1)
    }

    @Test func `forged responses to a handshake leave it to the peer's own response`() throws {
        let attacked = try Attacked()
        var packets = WireGuard.PacketBatch()
        packets.append([0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 66, 0, 1, 10, 66, 0, 2] as [UInt8])
        var work = SealingWork()
        var effects: [WireGuardInterface.Effect] = []
        attacked.core.withInterface { interface, random, moment in
            interface.prepare(packets, at: moment, using: &random, into: &work, effects: &effects)
        }
        guard case .send(let initiation, _)? = effects.first else {
            Issue.record("no initiation: \(effects)")
            return
        }
        var messages = HostileMessages(against: attacked.key.publicKey, seed: 3)
        let index = Array(initiation[4..<8])
        let points = HostileMessages.lowOrderPoints + (0..<50).map { _ in messages.transport(count: 32) }
        let forged = points.map { (messages.response(to: index, ephemeral: $0), messages.source()) }
        #expect(attacked.receive(forged).isEmpty)
        #expect(attacked.drops.forged == UInt64(forged.count))
        _ = attacked.receive(attacked.answer(effects))
        #expect(attacked.core.device().peers.first?.lastHandshake != nil)
    }

    @Test func `the work of a batch releases its keys when it is done`() throws {
        let attacked = try Attacked()
        attacked.connect()
        #expect(attacked.work.hasKeys || attacked.work.hasHandshakes)
        _ = attacked.receive(attacked.packet())
        #expect(attacked.work.hasKeys)
        attacked.work.forgetKeys()
        #expect(!attacked.work.hasKeys)
        var packets = WireGuard.PacketBatch()
        packets.append([0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 66, 0, 1, 10, 66, 0, 2] as [UInt8])
        var work = SealingWork()
        var effects: [WireGuardInterface.Effect] = []
        attacked.core.withInterface { interface, random, moment in
            interface.prepare(packets, at: moment, using: &random, into: &work, effects: &effects)
        }
        #expect(work.packetCount == 1)
        work.forgetKeys()
        #expect(work.isEmpty)
    }
}
