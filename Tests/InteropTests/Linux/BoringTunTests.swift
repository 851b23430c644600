#if os(Linux)
internal import Bytes
internal import CryptoPrimitives
internal import Platform
internal import TestSupport
internal import Testing
internal import WireGuard

enum BoringTun {
    static let script = "boringtun_peer.py"
    /// The reason why it cannot run here, or an empty text.
    static let obstacle = PythonScripts.missing(for: script, otherwise: "BoringTun is not tested")
}

/// Our WireGuard value against BoringTun, which answers our initiations and returns each datagram.
@Suite(
    "WireGuard with BoringTun",
    .enabled(if: BoringTun.obstacle.isEmpty, Comment(rawValue: BoringTun.obstacle)),
    .timeLimit(.minutes(5))
) struct BoringTunTests {
    private let address: UInt32 = 0x0A00_0001
    private let ourAddress: UInt32 = 0x0A00_0002

    private func exchange(_ payload: [UInt8], _ ours: inout DatagramPeer) throws {
        ours.send(InnerDatagram(from: (ourAddress, 9_000), to: (address, 7_000), payload).packet)
        let returned = try #require(ours.packet { $0.payload == payload })
        #expect(returned.source == (address, 7_000))
        #expect(returned.destination == (ourAddress, 9_000))
    }

    @Test func `packets return, and a session is renewed by us after 120 seconds`() throws {
        var random = SystemRandom()
        let key = X25519PrivateKey(using: &random)
        var ours = DatagramPeer(try SpaceSocket(address: DatagramPeer.loopback))
        let process = try ChildProcess(
            script: BoringTun.script,
            arguments: [key.secret.withBytes { Base64.encode($0) }, ours.key.publicKey.base64Encoded],
            takesLines: true
        )
        let port = try #require(process.nextLine().flatMap { UInt16($0) })
        try ours.add(key.publicKey, port: port)
        for round in UInt8(0)..<3 { try exchange([round, 1, 2], &ours) }
        #expect(process.nextLine() == "10.0.0.2:9000 10.0.0.1:7000 3")
        #expect(ours.sessionCount(isInitiator: true) == 1)
        ours.advance(by: .seconds(121))
        try exchange([4], &ours)
        #expect(ours.run { $0.sessionCount(isInitiator: true) == 2 ? true : nil } == true)
        try exchange([5], &ours)
        try process.endInput()
        #expect(process.waitUntilExit() == 0)
    }
}
#endif
