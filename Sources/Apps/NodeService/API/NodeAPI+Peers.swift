internal import Console
internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

// Peers, messages and files.
extension NodeAPI {
    private struct Messages: Encodable {
        let messages: [MessageDesk.Message]
    }

    /// The largest file that a page sends.
    private static let fileByteLimit: UInt64 = 4 << 30
    private static let fileNameByteLimit = 255
    /// A message of the largest size has room, with every byte escaped.
    static let content = ConsoleRoute.Body.json(limit: 16 << 20)

    var peerRoutes: [ConsoleRoute] {
        [
            route(.get, "/peers") { request in
                let isAll = request.flag("all")
                let network = request.text("network").map { NetworkName(form: $0) }
                if request.flag("find") { await handler.findMembers() }
                return try handler.peersView(all: isAll, in: network, request.page())
            },
            route(.get, "/peers/{peer}") { try handler.peerView($0.peer) },
            route(.post, "/peers/{peer}/connect", body: .json(), needsNetwork: true, changes: [.peers]) { request in
                let form: ConnectForm = try request.form()
                return try await handler.connect(
                    request.peer,
                    NetworkName(form: form.network),
                    form.address.flatMap { $0.isEmpty ? nil : $0 },
                    overRelay: form.relay ?? false
                )
            },
            route(.post, "/peers/{peer}/disconnect", body: .json(), changes: [.peers]) { request in
                node.disconnectPeer(try handler.resolve(request.peer))
                return DoneReport(done: true)
            },
            route(.post, "/connect", body: .json(), needsNetwork: true, changes: [.peers]) {
                try await handler.connect(byText: Self.text($0))
            },
            route(.post, "/peers/{peer}/messages", body: Self.content, needsNetwork: true) {
                try await handler.send(Self.message($0), to: $0.peer)
            },
            route(.post, "/networks/{network}/broadcast", body: Self.content, needsNetwork: true) {
                try await handler.broadcast(Self.message($0), in: $0.network)
            },
            route(.get, "/messages") { request in
                let peer = try request.text("peer").map { try handler.resolve(PeerName(form: $0)) }
                let since = try request.number("since", in: 0...Int.max) ?? 0
                return Messages(messages: try watch.messages.messages(with: peer, since: since))
            },
        ] + fileRoutes
    }

    private var fileRoutes: [ConsoleRoute] {
        [
            course(.post, "/peers/{peer}/files", body: .file(limit: Self.fileByteLimit), needsNetwork: true) {
                request in
                let name = try Self.fileName(request)
                let peer = try handler.resolve(request.peer)
                guard let file = request.file else {
                    throw ConsoleFailure(400, "no-file", "send the file as the body of the request")
                }
                return { tell in
                    FileSentView(try await handler.sendFile(file.path, named: name, to: peer, tell), name: name)
                }
            },
            route(.get, "/offers") { _ in FileShelf.Waiting(offers: try watch.files.offers) },
            route(.post, "/offers/{number}", body: .json()) { request in
                let form: OfferForm = try request.form()
                if form.directory != nil { try request.checkUser() }
                let directory = form.accept ? try form.directory ?? watch.files.makeDirectory() : nil
                try handler.files.answer(Self.number(request["number"]), directory)
                return DoneReport(done: true)
            },
            route(.get, "/files") { _ in
                FileShelf.Content(directory: try watch.files.directory, files: try watch.files.files())
            },
            special(.get, "/files/{id}") { request in
                let path = try watch.files.path(of: request["id"])
                return .file(path: path, name: FilePath.name(of: path))
            },
            route(.delete, "/files/{id}", changes: [.files]) { request in
                try watch.files.remove(request["id"])
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
