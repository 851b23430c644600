internal import Discovery
internal import Identity
internal import Testing

@testable internal import NodeCore

@Suite("Members on the local network") struct HeardTests {
    /// Two members with one secret on one link; the second receives the datagrams of the first.
    private struct Pair {
        var net = CoreNetwork()
        private var said = 0

        init() throws {
            let secret = try net.secret(1_000)
            for instance: UInt8 in [1, 2] {
                let node = try net.addMember(instance: instance)
                net.feed(node, .membership(.secretAdded(secret)))
                net.feed(node, .addressesChanged([CoreNetwork.address(of: node)]))
                net.feed(node, .discovery(.started))
            }
        }

        /// Advances the time, and passes the datagrams of the first to the second; returns their number.
        mutating func listen(for duration: Duration) -> Int {
            net.advance(by: duration)
            let beacons = net.nodes[0].effects.dropFirst(said).compactMap { effect -> [UInt8]? in
                if case .discovery(.multicast(let bytes)) = effect { bytes } else { nil }
            }
            said = net.nodes[0].effects.count
            for bytes in beacons { net.feed(1, .discovery(.datagramReceived(bytes, from: CoreNetwork.address(of: 0)))) }
            return beacons.count
        }

        /// The addresses of each report of the second about the first.
        var told: [[SocketAddress]] {
            net.nodes[1].effects.compactMap { effect in
                if case .peer(.discovered(net.nodes[0].peerId, _, let addresses)) = effect { addresses } else { nil }
            }
        }
    }

    @Test func `a peer that stays heard is reported once, and again with a new address`() throws {
        var pair = try Pair()
        #expect(pair.listen(for: .seconds(1)) > 0)
        #expect(pair.told == [[CoreNetwork.address(of: 0)]])
        for _ in 0..<5 { #expect(pair.listen(for: .seconds(13)) > 0) }
        #expect(pair.told.count == 1)
        let moved = SocketAddress(.v4(0x7F00_0001), port: 7777)
        pair.net.feed(0, .addressesChanged([moved]))
        #expect(pair.listen(for: .seconds(13)) > 0)
        #expect(pair.told.last == [moved] && pair.told.count == 2)
    }

    @Test func `a peer that fell silent and returns is reported again`() throws {
        var pair = try Pair()
        _ = pair.listen(for: .seconds(1))
        pair.net.feed(0, .discovery(.stopped))
        pair.net.advance(by: .seconds(40))
        let lost = Effect.peer(.lost(pair.net.nodes[0].peerId, pair.net.network()))
        let isTold = pair.net.nodes[1].effects.contains(lost)
        #expect(isTold)
        pair.net.feed(0, .discovery(.started))
        _ = pair.listen(for: .seconds(13))
        #expect(pair.told.count == 2)
    }
}
