internal import Concurrency
internal import CryptoPrimitives
internal import Identity
internal import TestSupport
internal import Testing
internal import WireGuard

@testable internal import Tunnel

@Suite("Engine configuration") struct EngineCoreTests {
    private let time = Locked(Moment(monotonic: .zero, wall: .seconds(1_800_000_000)))

    private func core() throws -> EngineCore {
        let time = time
        return try #require(EngineCore { time.withLock { $0 } })
    }

    private func key(_ seed: UInt64) -> X25519PrivateKey {
        var random = SplitMix64(seed: seed)
        return X25519PrivateKey(using: &random)
    }

    private func configuration(keepalive: UInt16 = 0) throws -> UAPIConfiguration {
        var peer = UAPIConfiguration.PeerChange(publicKey: key(2).publicKey)
        peer.endpoint = SocketAddress("192.0.2.1:51820")
        peer.persistentKeepaliveSeconds = keepalive
        peer.allowedAddresses = [try #require(AddressPrefix(.v4(0x0A42_0000), length: 16))]
        var configuration = UAPIConfiguration()
        configuration.privateKey = .replace(key(1))
        configuration.mtu = 1_400
        configuration.peers = [peer]
        return configuration
    }

    @Test func `a configuration is reported as it was set`() throws {
        let core = try core()
        core.apply(try configuration(keepalive: 25))
        let device = core.device()
        #expect(device.privateKey == key(1))
        #expect(device.mtu == 1_400)
        let peer = try #require(device.peers.first)
        #expect(peer.publicKey == key(2).publicKey)
        #expect(peer.endpoint == SocketAddress("192.0.2.1:51820"))
        #expect(peer.persistentKeepaliveSeconds == 25)
        #expect(peer.allowedAddresses.map(\.description) == ["10.66.0.0/16"])
        #expect(peer.lastHandshake == nil)
    }

    @Test func `peers are replaced and removed`() throws {
        let core = try core()
        core.apply(try configuration())
        var change = UAPIConfiguration()
        change.replacesPeers = true
        change.peers = [UAPIConfiguration.PeerChange(publicKey: key(3).publicKey)]
        core.apply(change)
        #expect(core.device().peers.map(\.publicKey) == [key(3).publicKey])
        change.replacesPeers = false
        change.peers[0].isRemoved = true
        core.apply(change)
        #expect(core.device().peers.isEmpty)
    }

    @Test func `a change that sets an earlier deadline wakes the thread that waits for timers`() throws {
        let core = try core()
        #expect(core.beginWaiting() == nil)
        var wait = EngineWait([core.waker.descriptor])
        core.apply(try configuration())
        wait.wait(atMost: .zero)
        #expect(!wait.isReady(0))
        core.apply(try configuration(keepalive: 25))
        wait.wait(atMost: .zero)
        #expect(wait.isReady(0))
        core.waker.clear()
        wait.wait(atMost: .zero)
        #expect(!wait.isReady(0))
    }

    @Test func `a timer that is due sends`() throws {
        let core = try core()
        core.apply(try configuration(keepalive: 25))
        var effects: [WireGuardInterface.Effect] = []
        core.runTimers(effects: &effects)
        guard case .send(let datagram, let endpoint)? = effects.first else {
            Issue.record("no initiation: \(effects)")
            return
        }
        #expect(datagram.first == 1)
        #expect(endpoint == SocketAddress("192.0.2.1:51820"))
    }

    @Test func `after a jump of the clock the timers that are due run at once`() throws {
        let core = try core()
        core.apply(try configuration(keepalive: 25))
        var effects: [WireGuardInterface.Effect] = []
        core.runTimers(effects: &effects)
        let first = effects.count
        time.withLock { time in
            time.monotonic += .seconds(3_600)
            time.wall += .seconds(3_600)
        }
        #expect(try #require(core.beginWaiting()) <= .zero)
        core.runTimers(effects: &effects)
        #expect(effects.count > first)
    }

    @Test func `a stop is seen by each wait`() throws {
        let core = try core()
        var waits = [EngineWait([core.stop.descriptor]), EngineWait([core.stop.descriptor])]
        waits[0].wait(atMost: .zero)
        #expect(!waits[0].isReady(0))
        core.stop.stop()
        core.stop.stop()
        for index in waits.indices {
            waits[index].wait(atMost: nil)
            #expect(waits[index].isReady(0))
        }
    }
}
