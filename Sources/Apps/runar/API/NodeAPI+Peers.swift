internal import Console
internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

// Peers, messages and files.
extension NodeAPI {
    private struct ConnectForm: Decodable {
        let network: String
        let address: String?
        let relay: Bool?
    }

    private struct AcceptForm: Decodable {
        let accept: Bool
    }

    private struct Messages: Encodable {
        let messages: [MessageDesk.Message]
    }

    /// The largest file that a page sends.
    private static let fileByteLimit: UInt64 = 4 << 30
    private static let fileNameByteLimit = 255

    var peerRoutes: [ConsoleRoute] {
        [
            route(.get, "/peers") { request in
                let isAll = request.text("all").map { $0 == "1" || $0 == "true" } ?? false
                let network = request.text("network").map { NetworkName(form: $0) }
                return try handler.peersView(all: isAll, in: network, request.page())
            },
            route(.get, "/peers/{peer}") { try handler.peerView($0.peer) },
            command(.post, "/peers/{peer}/connect", body: .json()) { request in
                let form: ConnectForm = try request.form()
                let address = form.address.flatMap { $0.isEmpty ? nil : $0 }
                let network = NetworkName(form: form.network)
                return .connect(request.peer, network: network, address: address, overRelay: form.relay ?? false)
            },
            route(.post, "/peers/{peer}/disconnect", body: .json()) { request in
                node.disconnectPeer(try handler.resolve(request.peer))
                watch.activity.tell(ActivityChanged(what: [.peers]))
                return DoneReport(done: true)
            },
            command(.post, "/connect", body: .json()) { .connectByText(try Self.text($0)) },
            command(.post, "/peers/{peer}/messages", body: .json()) {
                .send($0.peer, text: try Self.message($0))
            },
            command(.post, "/networks/{network}/broadcast", body: .json()) {
                .broadcast(network: $0.network, text: try Self.message($0))
            },
            route(.get, "/messages") { request in
                let peer = try request.text("peer").map { try handler.resolve(PeerName(form: $0)) }
                let since = try request.number("since", in: 0...Int.max) ?? 0
                return Messages(messages: watch.messages.messages(with: peer, since: since))
            },
        ] + fileRoutes
    }

    private var fileRoutes: [ConsoleRoute] {
        [
            special(.post, "/peers/{peer}/files", body: .file(limit: Self.fileByteLimit)) { request in
                let name = try Self.fileName(request)
                let peer = try handler.resolve(request.peer)
                guard let file = request.file else {
                    throw ConsoleFailure(400, "no-file", "send the file as the body of the request")
                }
                return lines { reply in
                    do {
                        let report = try await handler.sendFile(file.path, named: name, to: peer, reply)
                        await reply(.result(JSONText.encode(FileSentView(report, name: name))))
                    } catch {
                        await reply(.failure(CommandFailure(error)))
                    }
                }
            },
            route(.get, "/offers") { _ in FileShelf.Waiting(offers: watch.files.offers) },
            route(.post, "/offers/{number}", body: .json()) { request in
                let form: AcceptForm = try request.form()
                let number = try Self.number(request["number"])
                try handler.files.answer(number, form.accept ? try watch.files.makeDirectory() : nil)
                return DoneReport(done: true)
            },
            route(.get, "/files") { _ in
                FileShelf.Content(directory: watch.files.directory, files: try watch.files.files())
            },
            special(.get, "/files/{id}") { request in
                let path = try watch.files.path(of: request["id"])
                return .file(path: path, name: FilePath.name(of: path))
            },
            route(.delete, "/files/{id}") { request in
                try watch.files.remove(request["id"])
                watch.activity.tell(ActivityChanged(what: [.files]))
                return DoneReport(done: true)
            },
        ]
    }

    private static func message(_ request: ConsoleRequest) throws -> String {
        let text = try request.form(TextForm.self).text
        guard !text.isEmpty else { throw ConsoleRequest.badField("text", "is empty: write something") }
        return text
    }

    /// What the peer calls the file.
    private static func fileName(_ request: ConsoleRequest) throws -> String {
        let name = request.text("name") ?? ""
        guard name.utf8.count <= fileNameByteLimit, FilePath.isComponent(name) else {
            throw ConsoleRequest.badField("name", "must be a file's name: 1 to \(fileNameByteLimit) bytes, no slashes")
        }
        return name
    }
}

/// A file that a peer has, without the place where it lay meanwhile.
struct FileSentView: Encodable {
    let peerId: String
    let name: String
    let bytes: UInt64
    let milliseconds: Int

    init(_ report: FileSentReport, name: String) {
        self.name = name
        peerId = report.peerId
        bytes = report.bytes
        milliseconds = report.milliseconds
    }
}
