#if os(Linux)
internal import TestSupport
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// The mobile specification's peer connection workflow: a STUN server and two exchanged texts, without a common member.
@Suite(
    "Two members without a common one",
    .aside,
    .enabled(if: NatLab.obstacle == nil, Comment(rawValue: NatLab.obstacle ?? "")),
    .timeLimit(.minutes(LabExtent.isFull ? 60 : 15))
) struct PunchTests {
    private static let serverAddress = "\(NatLab.serverAddresses[0]):3478"

    private static let kinds: [NatLab.Kind] =
        LabExtent.isFull ? [.portRestricted, .addressRestricted, .fullCone] : [.portRestricted]

    @Test(arguments: kinds)
    func `two devices behind routers connect directly by each other's texts`(kind: NatLab.Kind) async throws {
        let lab = try await NatLab.with([.init(kind), .init(.portRestricted)])
        let server = try RunningCommand(
            ["stun", "--serve", "--json", "--listen", Self.serverAddress],
            home: TemporaryDataDirectory(),
            wrapper: lab.wrapper(on: .server)
        )
        _ = try await Device.next("listening", of: server)
        let settings = [
            "RUNAR_DISCOVERY": "off", "RUNAR_LISTEN": "0.0.0.0:4433", "RUNAR_REQUEST_TIMEOUT": "60s",
            "RUNAR_STUN_SERVERS": Self.serverAddress,
        ]
        let first = try await Device("first", wrapper: lab.wrapper(on: .site(1)), settings: settings)
        let second = try await Device("second", wrapper: lab.wrapper(on: .site(2)), settings: settings)
        try await Device.makeFamily(of: [first, second])
        try await first.start()
        try await second.start()

        // Each shows its address as the server sees it, and reads the other's.
        let shown = try await first.answer(["network", "address", "--stun"])
        let answer = try await second.answer(["network", "address", "--stun"])
        #expect(try shown.text("address").hasPrefix(NatLab.publicAddress(of: 1) + ":"))
        #expect(try answer.text("address").hasPrefix(NatLab.publicAddress(of: 2) + ":"))
        let texts = [try answer.text("text"), try shown.text("text")]
        let homes = [first.home.path, second.home.path]
        async let there = Self.connect(homes[0], by: texts[0])
        async let here = Self.connect(homes[1], by: texts[1])
        let reports = try await [there, here]
        #expect(reports.map(\.peerId) == [second.peerId, first.peerId])
        #expect(reports.allSatisfy { !$0.relayed })
        try await first.talks(to: second)
        _ = server.end(by: 15)
    }

    /// Connects the node of a home by a text.
    private static func connect(_ home: String, by text: String) async throws -> ConnectReport {
        guard let client = NodeClient(home: home) else {
            throw Outcome.Unexpected(description: "no node runs in \(home)")
        }
        return try await client.perform(Operations.connectByText(TextForm(text)))
    }
}
#endif
