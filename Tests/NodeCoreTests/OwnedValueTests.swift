internal import Identity
internal import Testing

@testable internal import NodeCore

/// The values of which a node is composed, each by itself.
@Suite("Owned values") struct OwnedValueTests {
    private let network = CoreNetwork().network()
    private let peers = (0..<2).map { _ in PeerId(publicKey: generatePeerKey().publicKey) }
    private let now = NodeTime(monotonic: .seconds(10), wallSeconds: 1_000)

    /// Runs `body` with a turn at ``now`` and returns the effects that it emits.
    private func effects(of body: (inout Identity.Turn<NodeTime, Effect>) -> Void) -> [Effect] {
        var effects: [Effect] = []
        Identity.Turn.run(at: self.now, into: &effects, body)
        return effects
    }

    @Test func `pending messages are bounded in number and in bytes`() {
        var limits = Limits()
        limits.pendingMessagesPerPeer = 2
        limits.pendingMessageBytes = 10
        var pending = PendingMessages()
        pending.add([1, 2, 3], to: self.peers[0], in: self.network)
        #expect(pending.hasRoom(for: [UInt8](repeating: 0, count: 7), to: self.peers[1], within: limits))
        #expect(!pending.hasRoom(for: [UInt8](repeating: 0, count: 8), to: self.peers[1], within: limits))
        pending.add([4], to: self.peers[0], in: self.network)
        #expect(!pending.hasRoom(for: [5], to: self.peers[0], within: limits))
        #expect(pending.hasRoom(for: [5], to: self.peers[1], within: limits))
        let taken = pending.take(for: self.peers[0], in: self.network)
        #expect(taken.map(\.bytes) == [[1, 2, 3], [4]])
        #expect(pending.isEmpty)
        #expect(pending.hasRoom(for: [UInt8](repeating: 0, count: 10), to: self.peers[0], within: limits))
    }

    @Test func `a wake is requested only if it is earlier than the pending one`() {
        var timers = Timers(longestClockSleep: .seconds(60))
        let first = self.effects { turn in for seconds in [5, 9, 3] { timers.arm(.seconds(seconds), &turn) } }
        #expect(first == [.wake(at: .seconds(5)), .wake(at: .seconds(3))])
        timers.wakeReached()
        let second = self.effects { timers.arm(.seconds(9), &$0) }
        #expect(second == [.wake(at: .seconds(9))])
    }

    @Test func `the wall clock is read after the longest sleep at the latest`() {
        var timers = Timers(longestClockSleep: .seconds(60))
        let effects = self.effects { timers.armClock(9_000, &$0) }
        #expect(effects == [.wake(at: .seconds(70))])
        #expect(!timers.isClockDue(self.now))
        #expect(timers.isClockDue(NodeTime(monotonic: .seconds(70), wallSeconds: 1_000)))
    }

    @Test func `a queued peer that no longer waits is skipped`() {
        var known = KnownPeers(limits: Limits())
        for peer in self.peers {
            known.know(peer)
            let isQueued = known.enqueue(peer)
            #expect(isQueued)
        }
        known.stopWaiting(for: self.peers[0])
        let taken = [known.takeQueued(), known.takeQueued()]
        #expect(taken == [self.peers[1], nil])
    }

    @Test func `a frame counts as just sent only during its own input`() throws {
        var connections = Connections()
        let id = ConnectionId(1)
        let link = Link(peer: self.peers[0], isDialler: true, address: CoreNetwork.address(of: 0), exporter: [])
        connections.beginInput()
        connections.add(id, link, until: .seconds(5), at: .zero)
        #expect(!connections.hasJustSent(on: try #require(connections[id])))
        _ = self.effects { connections.send(.joinRefusal(.joinRefused), on: id, &$0) }
        #expect(connections.hasJustSent(on: try #require(connections[id])))
        connections.beginInput()
        #expect(!connections.hasJustSent(on: try #require(connections[id])))
    }
}
