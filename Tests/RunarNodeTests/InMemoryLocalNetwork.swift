internal import Concurrency
internal import Identity
internal import Platform
internal import RunarNode

/// A local network in memory: each link receives the datagrams of every link, its own among them.
final class InMemoryLocalNetwork: Sendable {
    private let links = Locked<[InMemoryLink]>([])

    /// Connects a machine that can be dialled at `addresses`.
    func makeLink(addresses: [SocketAddress]) -> InMemoryLink {
        let link = InMemoryLink(network: self, addresses: addresses)
        links.withLock { $0.append(link) }
        return link
    }

    fileprivate func deliver(_ datagram: MulticastDatagram) {
        for link in links.withLock({ $0 }) { link.receive(datagram) }
    }

    fileprivate func remove(_ link: InMemoryLink) {
        links.withLock { $0.removeAll { $0 === link } }
    }
}

/// The link of one machine to an ``InMemoryLocalNetwork``.
final class InMemoryLink: DiscoveryLink {
    let datagrams: AsyncStream<MulticastDatagram>
    let localAddresses: AsyncStream<[SocketAddress]>
    private let network: InMemoryLocalNetwork
    private let received: AsyncStream<MulticastDatagram>.Continuation
    private let addresses: AsyncStream<[SocketAddress]>.Continuation
    /// The first address of the machine, with the port of the group, as with sockets.
    private let source: SocketAddress

    fileprivate init(network: InMemoryLocalNetwork, addresses: [SocketAddress]) {
        self.network = network
        (self.datagrams, self.received) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(256))
        (self.localAddresses, self.addresses) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.source = SocketAddress(addresses.first?.ip ?? .v4(0), port: 4242)
        self.addresses.yield(addresses)
    }

    var interfaceNames: [String] { ["memory"] }
    var leftOutInterfaceNames: [String] { [] }

    func send(_ bytes: [UInt8]) {
        guard (1...MulticastDatagram.byteLimit).contains(bytes.count) else { return }
        network.deliver(MulticastDatagram(bytes: bytes, source: source, interface: 1))
    }

    func close() async {
        network.remove(self)
        received.finish()
        addresses.finish()
    }

    fileprivate func receive(_ datagram: MulticastDatagram) { received.yield(datagram) }
}
