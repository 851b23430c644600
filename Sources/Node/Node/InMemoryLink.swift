internal import Bytes
internal import Concurrency
package import Identity
package import Platform

/// A local network inside the process: every plugged-in machine hears all others, apart from random losses.
package final class InMemoryLocalNetwork: Sendable {
    private struct State: Sendable {
        var links: [Plug] = []
        var loss: Double
        var random: SeededGenerator
    }

    private struct Plug: Sendable {
        weak var link: InMemoryLink?
        var isPlugged = true
    }

    private let state: Locked<State>

    /// Creates a network that loses each copy of a datagram with the probability `loss`, as `seed` decides.
    package init(seed: UInt64 = 0, loss: Double = 0) {
        self.state = Locked(State(loss: loss, random: SeededGenerator(seed: seed)))
    }

    /// The probability with which each listener misses a datagram, from 0 to 1.
    package var loss: Double {
        get { self.state.withLock { $0.loss } }
        set { self.state.withLock { $0.loss = newValue } }
    }

    /// Plugs a machine in that can be dialled at `addresses`.
    package func makeLink(addresses: [SocketAddress]) -> InMemoryLink {
        let link = InMemoryLink(network: self, addresses: addresses)
        self.state.withLock { $0.links.append(Plug(link: link)) }
        return link
    }

    /// Pulls a machine's plug, or puts it back: unplugged, it neither hears other machines nor is heard by them.
    package func setPlugged(_ isPlugged: Bool, _ link: InMemoryLink) {
        self.state.withLock { state in
            for index in state.links.indices where state.links[index].link === link {
                state.links[index].isPlugged = isPlugged
            }
        }
    }

    fileprivate func deliver(_ datagram: MulticastDatagram, from sender: InMemoryLink) {
        let listeners = self.state.withLock { state -> [InMemoryLink] in
            state.links.removeAll { $0.link == nil }
            let isPlugged = state.links.contains { $0.link === sender && $0.isPlugged }
            var listeners: [InMemoryLink] = []
            for plug in state.links where plug.link === sender || isPlugged && plug.isPlugged {
                if let link = plug.link, !state.random.decide(state.loss) { listeners.append(link) }
            }
            return listeners
        }
        for listener in listeners { listener.hear(datagram) }
    }

    fileprivate func remove(_ link: InMemoryLink) {
        self.state.withLock { $0.links.removeAll { $0.link === link } }
    }
}

/// One machine's place in an ``InMemoryLocalNetwork``.
package final class InMemoryLink: DiscoveryLink {
    package let datagrams: AsyncStream<MulticastDatagram>
    package let localAddresses: AsyncStream<[SocketAddress]>
    private let network: InMemoryLocalNetwork
    private let heard: AsyncStream<MulticastDatagram>.Continuation
    private let addresses: AsyncStream<[SocketAddress]>.Continuation
    private let source: Locked<SocketAddress>

    /// The number of datagrams that wait for a slow reader, as with sockets.
    private static let capacity = 256
    private static let port: UInt16 = 4242

    fileprivate init(network: InMemoryLocalNetwork, addresses: [SocketAddress]) {
        self.network = network
        (self.datagrams, self.heard) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.capacity))
        (self.localAddresses, self.addresses) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.source = Locked(SocketAddress(.v4(0), port: Self.port))
        self.setAddresses(addresses)
    }

    /// Gives the machine other addresses; it sends from the first one, and from the group's port as sockets do.
    package func setAddresses(_ addresses: [SocketAddress]) {
        self.source.withLock { $0 = SocketAddress(addresses.first?.ip ?? .v4(0), port: Self.port) }
        self.addresses.yield(addresses)
    }

    package var interfaceNames: [String] { ["memory"] }

    package func send(_ bytes: [UInt8]) {
        guard (1...MulticastDatagram.byteLimit).contains(bytes.count) else { return }
        let source = self.source.withLock { $0 }
        self.network.deliver(MulticastDatagram(bytes: bytes, source: source, interface: 1), from: self)
    }

    package func close() async {
        self.network.remove(self)
        self.heard.finish()
        self.addresses.finish()
    }

    fileprivate func hear(_ datagram: MulticastDatagram) {
        self.heard.yield(datagram)
    }
}
