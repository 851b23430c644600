internal import Identity
internal import Platform
internal import Testing

@Suite("UDP sockets", .timeLimit(.minutes(15))) struct DatagramSocketsTests {
    private let loopback = SocketAddress(.v4(0x7F00_0001), port: 0)

    @Test func `each socket receives its datagrams with their source`() async throws {
        let wide = try SocketAddress(parsing: "[::1]:0")
        let here = try DatagramSockets(at: [self.loopback, self.loopback, wide])
        let there = try DatagramSockets(at: [self.loopback, wide])
        #expect(here.addresses.allSatisfy { $0.port != 0 })
        try there.send([1], to: here.addresses[0])
        try there.send([2, 2], to: here.addresses[1])
        try there.send([3, 3, 3], to: here.addresses[2], from: 1)
        var heard: [Int: DatagramSockets.Datagram] = [:]
        for await datagram in here.datagrams {
            heard[datagram.socket] = datagram
            if heard.count == 3 { break }
        }
        #expect(heard[0]?.bytes == [1] && heard[0]?.source == there.addresses[0])
        #expect(heard[1]?.bytes == [2, 2] && heard[1]?.source == there.addresses[0])
        #expect(heard[2]?.bytes == [3, 3, 3] && heard[2]?.source == there.addresses[1])
    }

    @Test func `closing ends the datagrams, and the port is free again`() async throws {
        var sockets: DatagramSockets? = try DatagramSockets(at: [self.loopback])
        let place = try #require(sockets?.addresses.first)
        #expect(throws: DatagramError.self) { try DatagramSockets(at: [place]) }
        sockets?.close()
        if let datagrams = sockets?.datagrams { for await _ in datagrams {} }
        sockets = nil
        // The thread may hold the socket for a moment after its stream has ended.
        var reopened: DatagramSockets?
        while reopened == nil {
            await Task.yield()
            reopened = try? DatagramSockets(at: [place])  // until it is free
        }
        #expect(reopened?.addresses == [place])
    }

    @Test func `a foreign address and an unreachable one are errors that name it`() throws {
        let foreign = try SocketAddress(parsing: "192.0.2.199:1")
        do throws(DatagramError) {
            _ = try DatagramSockets(at: [foreign])
            Issue.record("bound to a foreign address")
        } catch {
            #expect(error.description.contains("192.0.2.199:1"))
        }
        let sockets = try DatagramSockets(at: [self.loopback])
        #expect(throws: DatagramError.self) {
            // A socket of the loopback interface reaches no other machine.
            try sockets.send([1], to: SocketAddress(parsing: "203.0.113.1:1"))
        }
    }

    @Test func `host names are resolved, and an unknown one is an error that names it`() throws {
        #expect(try HostName.addresses(of: "localhost").allSatisfy(\.isLoopback))
        #expect(try !HostName.addresses(of: "localhost").isEmpty)
        do throws(HostNameError) {
            _ = try HostName.addresses(of: "unknown.invalid")
            Issue.record("an unknown name has an address")
        } catch {
            #expect(error.description.contains("unknown.invalid"))
        }
    }
}
