internal import Identity
internal import Platform
internal import Testing

@testable internal import Node

@Suite("In-memory link", .timeLimit(.minutes(15))) struct InMemoryLinkTests {
    private static func address(_ last: UInt32) -> SocketAddress { SocketAddress(.v4(0x0A00_0000 | last), port: 7) }

    @Test func `every link receives every datagram from the group's port`() async {
        let network = InMemoryLocalNetwork()
        let links = (1...3).map { network.makeLink(addresses: [Self.address($0)]) }
        links[0].send([1])
        for link in links {
            var heard = link.datagrams.makeAsyncIterator()
            let source = SocketAddress(.v4(0x0A00_0001), port: 4242)
            #expect(await heard.next() == MulticastDatagram(bytes: [1], source: source, interface: 1))
        }
    }

    @Test func `an unplugged machine hears only itself`() async {
        let network = InMemoryLocalNetwork()
        let (first, second) = (network.makeLink(addresses: []), network.makeLink(addresses: []))
        network.setPlugged(false, first)
        first.send([1])
        second.send([2])
        network.setPlugged(true, first)
        second.send([3])
        await first.close()
        await second.close()
        #expect(await first.datagrams.reduce(into: []) { $0 += $1.bytes } == [1, 3])
        #expect(await second.datagrams.reduce(into: []) { $0 += $1.bytes } == [2, 3])
    }

    @Test func `the loss rate is as configured, and equal seeds give equal losses`() async {
        func run(seed: UInt64) async -> [UInt8] {
            let network = InMemoryLocalNetwork(seed: seed, loss: 0.2)
            let (sender, hearer) = (network.makeLink(addresses: []), network.makeLink(addresses: []))
            for number in 0..<UInt8(200) { sender.send([number]) }
            await hearer.close()
            return await hearer.datagrams.reduce(into: []) { $0 += $1.bytes }
        }
        let heard = await run(seed: 1)
        #expect((140...180).contains(heard.count))
        #expect(await run(seed: 1) == heard)
        #expect(await run(seed: 2) != heard)
    }

    @Test func `the newest addresses are reported, and the datagram size limits hold`() async {
        let link = InMemoryLocalNetwork().makeLink(addresses: [Self.address(1)])
        link.setAddresses([Self.address(2), Self.address(3)])
        link.send([])
        link.send([UInt8](repeating: 0, count: MulticastDatagram.byteLimit + 1))
        await link.close()
        #expect(await link.localAddresses.reduce(into: []) { $0 += $1 } == [Self.address(2), Self.address(3)])
        #expect(await link.datagrams.reduce(into: []) { $0 += $1.bytes }.isEmpty)
    }
}
