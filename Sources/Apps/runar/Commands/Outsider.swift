internal import ArgumentParser
internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeCore
internal import NodeModel
internal import NodeService
internal import Platform
internal import QUIC
internal import RunarNode
internal import Transport

/// A command that dials a node with its own key and shows it any token, good or bad, for the demo and for tests.
///
/// A node of this program would refuse to show a bad token, so this speaks the protocol by hand.
struct Outsider: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outsider",
        abstract: "Show a node a token from standard input, valid or not, and print its answer.",
        shouldDisplay: false
    )

    /// The time that the node has to answer; it closes silent connections after five seconds itself.
    private static let patience = Duration.seconds(10)

    @Argument(help: "The node's peer id.")
    var peer: String
    @Argument(help: "Where it is.")
    var address: String
    @OptionGroup var home: HomeOptions

    func run() async throws {
        let text = try InputText.read("-", limit: 16 * 1024).trimmingCharacters(in: .whitespacesAndNewlines)
        let token = text.isEmpty ? nil : try AccessToken.fromQRString(text)
        let peer = try PeerId(text: peer)
        let place = try Setting.address(address)
        let settings = try home.settings()
        let nodeDirectory = try await NodeDirectory.open(home.place(), settings: settings)
        guard let secret = try nodeDirectory.keys.retrieve(id: "peer") else {
            throw NodeDirectory.missing(try home.place())
        }
        let endpoint = try QUICEndpoint.bind(
            QUICConfiguration(
                identity: try Ed25519PrivateKey(secret),
                addresses: [try Setting.address("127.0.0.1:0")]
            )
        )
        let report = try await Self.show(token, to: peer, at: place, from: endpoint)
        await endpoint.close(code: CloseCode.shutdown.rawValue)
        try Output.report(report, asJSON: home.output.json)
    }

    private static func show(
        _ token: AccessToken?,
        to peer: PeerId,
        at place: SocketAddress,
        from endpoint: any Endpoint
    ) async throws -> OutsiderReport {
        let connection = try await endpoint.connect(to: place, expecting: peer)
        let stream = try connection.openStream()
        var random = SystemRandom()
        let hello = Frame.hello(
            Frame.Hello(
                instance: InstanceId(generating: &random),
                tokens: token.map { [Frame.Offer(index: 0, token: $0)] } ?? []
            )
        )
        var writer = ByteWriter()
        writer.write(StreamHeader(kind: .hello).bytes)
        writer.writeVarintPrefixed(hello.bytes)
        // A node may close the connection before it has received everything; only its answer matters.
        try? await stream.write(writer.bytes, finish: false)  // see above
        let end = try await withThrowingTaskGroup(of: TransportError?.self) { group in
            group.addTask { await connection.closed() }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard case .closed(let code, let reason)? = end else {
            return OutsiderReport(admitted: true, closeCode: nil, closeReason: nil)
        }
        return OutsiderReport(admitted: false, closeCode: code, closeReason: reason)
    }
}

/// The node's answer to an unadmitted peer.
struct OutsiderReport: Report {
    /// Whether the node still held the connection after the time limit.
    let admitted: Bool
    let closeCode: UInt64?
    let closeReason: String?

    var lines: [String] {
        [admitted ? "not refused" : "refused with code \(closeCode ?? 0): \(closeReason ?? "")"]
    }
}
