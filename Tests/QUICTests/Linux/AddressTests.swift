#if os(Linux)
internal import CQUICShim
internal import Glibc
internal import Identity
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// The addresses that packets leave from, and the dropping of long packets in place of fragmentation (13).
///
/// All of 127.0.0.0/8 is this machine's on Linux only.
@Suite("Addresses", .timeLimit(.minutes(15))) struct AddressTests {
    @Test(arguments: ["127.0.0.1", "127.0.0.2", "127.8.9.10"])
    func `an endpoint of every address answers from the one that was asked (13)`(host: String) async throws {
        let server = try loopbackEndpoint(on: "0.0.0.0")
        let asked = try SocketAddress(parsing: "\(host):\(try address(of: server).port)")
        let unknownSocket = try RawSocket()
        unknownSocket.send(RawSocket.question, to: asked)
        #expect(try await unknownSocket.next(1).map(\.source) == [asked])

        let dialler = try loopbackEndpoint(on: "0.0.0.0")
        async let accepting = server.accept()
        let dialled = try await dialler.connect(to: asked, expecting: server.localPeerId)
        let accepted = try #require(try await accepting)
        #expect(dialled.remoteAddress == asked)
        async let echoes: Void = serveEchoes(on: accepted)
        try await checkEcho(of: pattern(200_000, seed: 4), on: dialled)
        #expect(dialled.remoteAddress == asked)
        dialled.close(code: 0, reason: "")
        await dialler.close(code: 0)
        await server.close(code: 0)
        try await echoes
    }

    @Test func `an endpoint of every IPv6 address answers from the one that was asked (13)`() async throws {
        let server = try loopbackEndpoint(on: "::")
        let asked = try SocketAddress(parsing: "[::1]:\(try address(of: server).port)")
        let unknownSocket = try RawSocket(on: "::")
        unknownSocket.send(RawSocket.question, to: asked)
        let answer = try #require(try await unknownSocket.next(1).first)
        #expect(answer.source == asked)
        // The receiver gets the destination address of a datagram,
        #expect(answer.destination?.bytes == asked.bytes)
        // and the sender's choice decides: an address of another host is refused.
        let foreign = try SocketAddress(parsing: "[2001:db8::1]:\(unknownSocket.address.port)")
        #expect(!unknownSocket.send([1], to: asked, from: foreign))
        let ours = try SocketAddress(parsing: "[::1]:\(unknownSocket.address.port)")
        #expect(unknownSocket.send([1], to: asked, from: ours))
        await server.close(code: 0)
    }

    @Test func `long packets are dropped rather than cut, whatever the system believes of the path (13)`() throws {
        let ipv4 = try RawSocket()
        let ipv6 = try RawSocket(on: "::1")
        #expect(option(IP_MTU_DISCOVER, IPPROTO_IP, of: ipv4) == IP_PMTUDISC_PROBE)
        #expect(option(IPV6_MTU_DISCOVER, IPPROTO_IPV6, of: ipv6) == IPV6_PMTUDISC_PROBE)
    }

    private func option(_ name: Int32, _ level: Int, of socket: RawSocket) -> Int32 {
        var value: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        let status = unsafe getsockopt(ru_udp_descriptor(socket.raw), Int32(level), name, &value, &size)
        return status == 0 ? value : -1
    }
}
#endif
