internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Platform

/// Over the loopback interface, each test on a port of its own, which the system does not give to others.
@Suite("Multicast", .timeLimit(.minutes(15))) struct MulticastTests {
    private let groups: MulticastGroups
    private let loopback: NetworkInterface

    init() throws {
        groups = try #require(.standard(port: QuietPort.next()))
        loopback = try #require(NetworkInterface.all()?.first { $0.isLoopback && $0.isUp })
    }

    private func open(_ interfaces: [NetworkInterface]? = nil) throws -> MulticastSocket {
        let listed = interfaces ?? [loopback]
        let bound = [SocketAddress(.v4(0x7F00_0001), port: 7)]
        return try MulticastSocket.open(.init(groups: groups, bound: bound, interfaces: { listed }))
    }

    /// A socket without the bounds of ``MulticastSocket``.
    private func openRaw(_ group: SocketAddress? = nil) throws -> InterfaceSocket {
        let group = try #require(group ?? groups.ipv4)
        return try #require(InterfaceSocket(group: group, interface: loopback.index, source: .v4(0x7F00_0001)))
    }

    @Test func `two sockets on one machine hear each other and themselves`() async throws {
        let (first, second) = (try open(), try open())
        first.send([1])
        for socket in [first, second] {
            var heard = socket.datagrams.makeAsyncIterator()
            let datagram = try #require(await heard.next())
            #expect(datagram.bytes == [1])
            #expect(datagram.source == groups.ipv4.map { SocketAddress(.v4(0x7F00_0001), port: $0.port) })
            #expect(datagram.interface == loopback.index)
        }
        second.send([2])
        var heard = first.datagrams.makeAsyncIterator()
        #expect(await heard.next()?.bytes == [2])
        #expect(first.interfaceNames == [loopback.name])
        await first.close()
        await second.close()
    }

    @Test func `empty and oversized datagrams are skipped`() async throws {
        let socket = try open()
        let raw = try openRaw()
        let limit = MulticastDatagram.byteLimit
        let sizes = [0, 1, limit + 1, 60_000, limit, limit + 1, 0, 2]
        for size in sizes { raw.send([UInt8](repeating: 7, count: size)) }
        var heard = socket.datagrams.makeAsyncIterator()
        for size in [1, limit, 2] { #expect(await heard.next()?.bytes.count == size) }
        socket.send([])
        socket.send([UInt8](repeating: 7, count: limit + 1))
        socket.send([9])
        #expect(await heard.next()?.bytes == [9])
        await socket.close()
    }

    @Test func `datagrams to other groups on the port are not received`() async throws {
        let socket = try open()
        let port = try #require(groups.ipv4?.port)
        let other = try openRaw(SocketAddress(.v4(0xEFFF_2A63), port: port))
        other.send([1])
        socket.send([2])
        var heard = socket.datagrams.makeAsyncIterator()
        #expect(await heard.next()?.bytes == [2])
        await socket.close()
    }

    @Test func `a reader that does not read loses only later datagrams`() async throws {
        let socket = try open()
        var heard = socket.datagrams.makeAsyncIterator()
        let raw = try openRaw()
        // More than the socket's own buffer and ours hold together, so that the latter is full for certain.
        for number in 0..<2_000 { raw.send([UInt8(truncatingIfNeeded: number)]) }
        // Half of them, since the socket's own buffer may have dropped some before ours was full.
        for number in 0..<MulticastLoop.waitingDatagrams / 2 {
            #expect(await heard.next()?.bytes == [UInt8(truncatingIfNeeded: number)])
        }
        // The rest is read until the marker arrives, because there is room again.
        var marker: [UInt8]?
        while marker != [1, 2] {
            socket.send([1, 2])
            marker = await heard.next()?.bytes
        }
        await socket.close()
    }

    @Test func `closing ends pending reads and sends queued datagrams`() async throws {
        let (leaver, stayer) = (try open(), try open())
        async let heard = leaver.datagrams.reduce(into: 0) { count, _ in count += 1 }
        async let lists = leaver.localAddresses.reduce(into: [[SocketAddress]]()) { $0.append($1) }
        leaver.send([0x42])
        await leaver.close()
        await leaver.close()
        leaver.send([1])
        #expect(await heard <= 1)
        #expect(await lists.count == 1)
        var iterator = stayer.datagrams.makeAsyncIterator()
        #expect(await iterator.next()?.bytes == [0x42])
        stayer.send([2])
        #expect(await iterator.next()?.bytes == [2])
        await stayer.close()
    }

    @Test func `releasing a socket closes it`() async throws {
        let datagrams = try open().datagrams
        for await _ in datagrams { Issue.record("a datagram arrived") }
    }

    @Test func `a failing interface does not affect the others`() async throws {
        let bad = NetworkInterface(name: "gone0", index: 9_999_999, addresses: [.v4(0x7F00_0001)])
        let socket = try open([bad, loopback])
        socket.send([3])
        var heard = socket.datagrams.makeAsyncIterator()
        #expect(await heard.next()?.bytes == [3])
        #expect(socket.interfaceNames == [loopback.name])
        await socket.close()
    }

    @Test func `the socket reports its own addresses immediately`() async throws {
        let socket = try open()
        var lists = socket.localAddresses.makeAsyncIterator()
        #expect(await lists.next() == [SocketAddress(.v4(0x7F00_0001), port: 7)])
        await socket.close()
        #expect(await lists.next() == nil)
    }

    @Test func `a group must be a multicast address of its family with a port`() throws {
        let ipv4 = try #require(SocketAddress("239.1.2.3:5"))
        let ipv6 = try #require(SocketAddress("[ff12::1%4]:5"))
        #expect(MulticastGroups(ipv4: ipv4, ipv6: ipv6)?.ipv6?.scope == 0)
        #expect(MulticastGroups(ipv4: ipv6, ipv6: nil) == nil)
        #expect(MulticastGroups(ipv4: nil, ipv6: ipv4) == nil)
        #expect(MulticastGroups(ipv4: SocketAddress("10.0.0.1:5"), ipv6: nil) == nil)
        #expect(MulticastGroups(ipv4: SocketAddress("239.1.2.3:0"), ipv6: nil) == nil)
        #expect(MulticastGroups.standard(port: 0) == nil)
        #expect(MulticastGroups.standard.ipv4?.description == "239.255.42.98:4242")
        #expect(MulticastGroups.standard.ipv6?.description == "[ff12::72:756e:6172]:4242")
        #expect(MulticastGroups.mobileSpecification.ipv4?.description == "239.255.255.250:4445")
    }

    @Test func `the system lists its interfaces with their addresses`() throws {
        let all = try #require(NetworkInterface.all())
        #expect(loopback.addresses.contains(.v4(0x7F00_0001)))
        #expect(Set(all.map(\.index)).count == all.count)
        for address in all.flatMap(\.addresses) where address.isIPv6 && address.isLinkLocal {
            #expect(address.scope != 0)
        }
    }
}
