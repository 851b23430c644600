#if os(Linux)
internal import Glibc
internal import Identity
internal import TestSupport
internal import Testing
internal import WireGuard

@testable internal import Tunnel

@Suite(
    "Engine sockets without room",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .timeLimit(.minutes(5))
)
struct HostileRoomTests {
    @Test func `a batch beyond the room of the socket is sent without a next batch`() async throws {
        let spaces = NetworkSpaces()
        try spaces.add(EnginePair.roles)
        let names = EnginePair.roles.map(spaces.space)
        try NetworkSpaces.run("ip -n \(names[0]) link add eth0 type veth peer name eth0 netns \(names[1])")
        for (name, address) in zip(names, EnginePair.outer) {
            try NetworkSpaces.run("ip -n \(name) address add \(address)/24 dev eth0; ip -n \(name) link set eth0 up")
        }
        // A queue of 40 Mbit/s keeps datagrams in the socket's account for a while.
        try NetworkSpaces.run("tc -n \(names[0]) qdisc add dev eth0 root tbf rate 40mbit burst 10kb limit 1mb")
        let receiver = try await spaces.inside(EnginePair.roles[1]) {
            let receiver = try PlainSocket(isIPv6: false, isStream: false)
            try receiver.set(SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
            try receiver.bind(EnginePair.outer[1], EnginePair.port)
            return receiver
        }
        let destination = SocketAddress(try #require(IPAddress(EnginePair.outer[1])), port: EnginePair.port)
        let count = 150
        let counts = try await spaces.inside(EnginePair.roles[0]) {
            let sender = try PlainSocket(isIPv6: false, isStream: false)
            try sender.bind(EnginePair.outer[0], EnginePair.port)
            let socket = try EngineSocket(duplicating: sender.descriptor)
            // The option belongs to the socket, which the duplicate shares and has just set.
            try sender.set(SOL_SOCKET, SO_SNDBUF, 64 << 10)
            var datagrams = DatagramBatch()
            for _ in 0..<count { datagrams.append([UInt8](repeating: 1, count: 1_400), endpoint: destination) }
            socket.send(datagrams, waits: true)
            let counts = try (0..<count).map { _ in try receiver.receive().count }
            return withExtendedLifetime(socket) { counts }
        }
        #expect(counts == [Int](repeating: 1_400, count: count))
    }
}
#endif
