internal import APIDescription
internal import Bytes
internal import Foundation
internal import HTTPAPI
internal import Identity
internal import Node
internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import RunarNode
@testable internal import runar

/// The requests of commands, and the reader of their answers.
@Suite("Requests of commands") struct ControlTests {
    private static let key = TableKey(text: "00ff", format: .hex, network: NetworkName("home"), timeout: .seconds(5))

    /// Reads an answer that arrives in parts.
    private func read<Answer>(
        _ parts: [[UInt8]],
        status: Int = 200,
        isInLines: Bool,
        as type: Answer.Type = Answer.self,
        onUpdate: @escaping @Sendable (NodeUpdate) async -> Void = { _ in }
    ) async throws -> Answer where Answer: Decodable & Sendable {
        var reader = AnswerReader<Answer>(onUpdate: onUpdate)
        reader.begin(status: status, isInLines: isInLines)
        for part in parts {
            if let answer = try await reader.take(part) { return answer }
        }
        return try reader.finish()
    }

    @Test func `names stand in the path with everything escaped that has a meaning there`() {
        let request = Operations.connectionText(NetworkName("a/b ?ä"), AddressQuery(address: "[::1]:5&x"))
        #expect(
            request.target
                == "/api/v1/networks/a%2Fb%20%3F%C3%A4/connection-text?address=%5B%3A%3A1%5D%3A5%26x"
        )
        #expect(Operations.network(nil).target == "/api/v1/networks/-")
        #expect(Operations.send(PeerName(""), TextForm("x")).target == "/api/v1/peers/%20/messages")
    }

    @Test func `forms are read as they were written`() throws {
        func form<Form: Decodable>(_ body: [UInt8]?) throws -> Form {
            var request = RouteRequest()
            request.body = try #require(body)
            return try request.form()
        }
        let put = Operations.put(
            nil,
            Joined(KeyForm(Self.key), PutForm(.ifVersion(3), lifetime: .seconds(60)), ContentForm([0, 255]))
        ).body
        let (key, condition, content): (KeyForm, PutForm, ContentForm) = (try form(put), try form(put), try form(put))
        #expect(key.key == "00ff" && key.format == .hex && key.timeoutSeconds == 5)
        #expect(condition.condition == .ifVersion && condition.version == 3 && condition.lifeSeconds == 60)
        #expect(try content.bytes() == Data([0, 255]))
        let token: TokenForm = try form(
            Operations.issueToken(
                nil,
                TokenForm(peer: "p", expiration: 17, label: "phone", renewable: false)
            ).body
        )
        #expect(token.expiration == 17 && token.label == "phone" && token.renewable == false)
        let answer: CallAnswerForm = try form(
            Operations.answerCall(RequestNumber(1), CallAnswerForm(.result(Data("5".utf8)))).body
        )
        #expect(answer.result == "NQ==" && answer.failure == nil)
    }

    @Test func `lines are read however they are cut, and updates come before the result`() async throws {
        let (peer, network) = (
            PeerId(publicKey: Ed25519KeyPair().publicKey), NetworkId(publicKey: Ed25519KeyPair().publicKey)
        )
        let updates: [NodeUpdate] = [
            .transferred(count: 1, total: 2), .callEnded(7),
            .listening(ListeningReport(peerId: "p", addresses: [])),
            .message(MessageReport(peer: peer, payload: [1]), delivery: 9),
            .event(EventReport(.joinPending(peer, network, digits: "1 2"))),
        ]
        let lines =
            updates.map { AnswerLine.bytes($0) } + [AnswerLine.alive, AnswerLine.bytes(result: DoneReport(done: true))]
        let bytes = lines.flatMap { $0 + [UInt8(ascii: "\n")] }
        for size in [1, 7, bytes.count] {
            let parts = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            let (found, note) = AsyncStream.makeStream(of: NodeUpdate.self)
            let report = try await read(parts, isInLines: true, as: DoneReport.self) { note.yield($0) }
            note.finish()
            var heard: [NodeUpdate] = []
            for await update in found { heard.append(update) }
            #expect(report.done && heard == updates)
        }
    }

    @Test func `a failure keeps its word, its sentence and its exit code`() async throws {
        let failure = RouteFailure(CommandFailure("no-such-peer", .data, "unknown"))
        let answers: [(bytes: [UInt8], isInLines: Bool)] = [
            (failure.json, false), (AnswerLine.bytes(failure: FailureView(failure)) + [UInt8(ascii: "\n")], true),
        ]
        for (bytes, isInLines) in answers {
            let found = await #expect(throws: CommandFailure.self) {
                try await read([bytes], status: isInLines ? 200 : 404, isInLines: isInLines, as: DoneReport.self)
            }
            #expect(found?.code == "no-such-peer" && found?.status == .data && found?.message == "unknown")
        }
    }

    @Test(arguments: [
        (404, "{\"error\":{\"code\":\"no-such-path\",\"message\":\"\",\"context\":{}}}", "unknown-request"),
        (200, "{", "unknown-reply"), (200, "{}", "unknown-reply"), (500, "{}", "unknown-reply"),
    ])
    func `what another version answers is said to be that`(status: Int, body: String, code: String) async {
        let found = await #expect(throws: CommandFailure.self) {
            try await read([Array(body.utf8)], status: status, isInLines: false, as: DoneReport.self)
        }
        #expect(found?.code == code && found?.status == .software)
    }

    @Test func `an answer that ends before its result says so`() async {
        let line = AnswerLine.alive + [UInt8(ascii: "\n")]
        let found = await #expect(throws: CommandFailure.self) {
            try await read([line], isInLines: true, as: DoneReport.self)
        }
        #expect(found?.code == "node-gone")
    }

    /// Answers one request in a home with these bytes and closes the connection, as a node that is killed while it answers.
    private static let answering = """
        import socket, sys
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen()
        print("ready", flush=True)
        listener.accept()[0].close()
        connection = listener.accept()[0]
        request = b""
        while b"\\r\\n\\r\\n" not in request: request += connection.recv(65536)
        connection.sendall(sys.argv[2].encode())
        connection.close()
        """

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{\"do", "node-gone"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"do", "node-gone"), ("HTTP/1.1 200", "node-gone"),
        ("", "node-gone"), ("SSH-2.0-OpenSSH\r\n\r\n", "unknown-reply"),
    ])
    func `a truncated answer means that the node ended, and a malformed one does not`(
        answer: String,
        code: String
    ) async throws {
        let home = try TemporaryDataDirectory()
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
        let arguments = ["python3", "-c", Self.answering, "\(home.path)/\(NodeSocket.name)", answer]
        let node = try ChildProcess(path: "/usr/bin/env", arguments: arguments)
        #expect(try await aside { node.nextLine() } == "ready")
        let client = try #require(NodeClient(home: home.path))
        let found = await #expect(throws: CommandFailure.self) { try await client.perform(Operations.networks()) }
        #expect(found?.code == code)
        _ = try await aside { node.waitUntilExit() }
    }

    @Test func `what was lost before an event stands in its report`() throws {
        let event = RunarEvent(
            topic: try TopicPath("a"),
            networkId: nil,
            publisher: PeerId(publicKey: Ed25519KeyPair().publicKey),
            publishedAt: Date(timeIntervalSince1970: 0),
            data: Data("x".utf8),
            losses: EventLosses(dropped: 2, missed: 1)
        )
        let network = NetworkId(publicKey: Ed25519KeyPair().publicKey)
        let report = TopicEventReport(event, in: network, label: nil)
        #expect(report.dropped == 2 && report.missed == 1)
        #expect(report.remarks.count == 2 && report.remarks[0].contains("2 events were dropped"))
    }

    @Test func `damaged lines never crash`() {
        let lines = [
            AnswerLine.bytes(.transferred(count: 1, total: 2)), AnswerLine.bytes(result: DoneReport(done: true)),
            AnswerLine.bytes(.called(CallReport(number: 1, action: "a", path: "p", peerId: nil, payload: Data([1])))),
        ]
        neverCrash(on: lines) { let _: AnswerLine.Content<DoneReport> = try AnswerLine.decode($0) }
    }
}
