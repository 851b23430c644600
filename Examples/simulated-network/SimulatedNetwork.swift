import RunarNode

/// An app on top of its node: it delivers a note to a peer, however long that peer is unreachable.
struct Courier {
    let node: RunarNode
    let clock: any Clock<Duration>

    /// Returns how many attempts it took.
    func deliver(_ note: String, to peer: PeerId) async throws -> Int {
        var attempts = 1
        while true {
            do {
                try await node.sendToPeer(note, peerId: peer)
                return attempts
            } catch is NodeError {
                attempts += 1
                try await clock.sleep(for: .seconds(30))
            }
        }
    }
}

/// Tries the courier on a network that fails for five minutes, in a moment and without a socket.
@main
struct SimulatedNetwork {
    static func main() async throws {
        let clock = VirtualClock()
        let network = InMemoryNetwork(seed: 1, clock: clock)
        network.defaultLink = LinkModel(latency: .milliseconds(40), jitter: .milliseconds(10), loss: 0.02)
        let laptop = try RunarNode(config: .createTestConfig(), network: network)
        let phone = try RunarNode(config: .createTestConfig(), network: network)

        // As fast as a real clock until the two have met, so that a busy machine has its time for that.
        let place = try await clock.run(speed: 1) {
            try await laptop.start()
            try await phone.start()
            let home = try laptop.createNetwork(name: "Home")
            let token = try laptop.issueToken(for: phone.peerId, in: home.networkId, expiration: nil)
            try await phone.joinNetwork(networkId: home.networkId, accessToken: token)
            let place = laptop.listenAddresses[0]
            try await phone.connectToPeer(peerId: laptop.peerId, networkId: home.networkId, address: "\(place)")
            return place
        }

        // Then a hundred times as fast.
        try await clock.run(speed: 100) {
            let notes = laptop.startListening()
            network.partition(phone.listenAddresses[0], from: place)
            let cut = clock.now
            async let mending: Void = mend(network, between: phone.listenAddresses[0], and: place, after: clock)
            let attempts = try await Courier(node: phone, clock: clock).deliver("back home", to: laptop.peerId)
            try await mending

            for await (peer, bytes) in notes {
                let note = try Bincode.deserialize(String.self, from: [UInt8](bytes))
                let minutes = cut.duration(to: clock.now) / .seconds(60)
                print("\(peer == phone.peerId ? "the phone" : "another peer") says: \(note)")
                print("after \(Int(minutes)) virtual minutes, \(attempts > 1 ? "at a later attempt" : "at once")")
                break
            }
            await phone.stop()
            await laptop.stop()
        }
    }

    /// Mends the link five minutes later.
    static func mend(
        _ network: InMemoryNetwork,
        between first: SocketAddress,
        and second: SocketAddress,
        after clock: VirtualClock
    ) async throws {
        try await clock.sleep(for: .seconds(300))
        network.heal(first, with: second)
    }
}
