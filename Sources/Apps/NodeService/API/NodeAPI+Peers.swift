internal import Console
internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

// Peers, messages and files.
extension NodeAPI {
    private struct Messages: Codable {
        let messages: [MessageHistory.Message]
    }

    /// The largest file that a page sends.
    private static let fileByteLimit: UInt64 = 4 << 30
    private static let fileNameByteLimit = 255
    /// A message of the largest size has room, with every byte escaped.
    static let contentByteLimit = 16 << 20

    var peerOperations: [APIOperation] {
        [
            route(.get, "/peers", .overTheNetwork, .query(Joined<PeersQuery, PageQuery>.self)) { _, queries in
                let (query, page) = queries.parts
                if query.find == true { await handler.findMembers() }
                let network = query.network.map { NetworkName(form: $0) }
                return try handler.peersView(all: query.all ?? false, in: network, page.page())
            },
            route(.get, "/peers/{peer}", .overTheNetwork) { try handler.peerView($0.peer) },
            route(
                .post,
                "/peers/{peer}/connect",
                .overTheNetwork,
                .json(ConnectForm.self),
                needsNetwork: true,
                changes: [.peers]
            ) { request, form in
                try await handler.connect(
                    request.peer,
                    form.network.map { NetworkName(form: $0) },
                    form.address.flatMap { $0.isEmpty ? nil : $0 },
                    overRelay: form.relay ?? false
                )
            },
            route(.post, "/peers/{peer}/disconnect", .overTheNetwork, body: .json(), changes: [.peers]) { request in
                node.disconnectPeer(try handler.resolve(request.peer))
                return DoneReport(done: true)
            },
            route(.post, "/connect", .overTheNetwork, .json(TextForm.self), needsNetwork: true, changes: [.peers]) {
                _,
                form in
                try await handler.connect(byText: Self.text(form.text))
            },
            route(.post, "/peers/{peer}/messages", .overTheNetwork, Self.message, needsNetwork: true) { request, form in
                try await handler.send(Self.text(ofMessage: form), to: request.peer)
            },
            route(.post, "/networks/{network}/broadcast", .overTheNetwork, Self.message, needsNetwork: true) {
                request,
                form in
                try await handler.broadcast(Self.text(ofMessage: form), in: request.network)
            },
            route(.get, "/messages", .overTheNetwork, .query(MessagesQuery.self)) { _, query in
                let peer = try query.peer.map { try handler.resolve(PeerName(form: $0)) }
                let since = try RouteRequest.number(query.since, "since", in: 0...Int.max) ?? 0
                return Messages(messages: try watch.messages.messages(with: peer, since: since))
            },
        ] + fileOperations
    }

    private var fileOperations: [APIOperation] {
        [
            eventStream(
                .post,
                "/peers/{peer}/files",
                .overTheNetwork,
                .query(FileQuery.self, body: .file(limit: Self.fileByteLimit)),
                updates: [.transferred],
                needsNetwork: true
            ) { request, query in
                let name = try Self.fileName(query.name)
                let peer = try handler.resolve(request.peer)
                guard let file = request.file else {
                    throw RouteFailure(400, "no-file", "send the file as the body of the request")
                }
                return { tell in
                    FileSentView(try await handler.sendFile(file.path, named: name, to: peer, tell))
                }
            },
            route(.get, "/offers", .overTheNetwork) { _ in FileStore.Waiting(offers: try watch.files.offers) },
            route(.post, "/offers/{number}", .overTheNetwork, .json(OfferForm.self)) { request, form in
                if form.directory != nil { try request.checkUser() }
                let directory = form.accept ? try form.directory ?? watch.files.makeDirectory() : nil
                try handler.files.answer(Self.number(request["number"]), directory)
                return DoneReport(done: true)
            },
            route(.get, "/files", .overTheNetwork) { _ in
                FileStore.Content(directory: try watch.files.directory, files: try watch.files.files())
            },
            special(.get, "/files/{id}", .overTheNetwork, .query(NoForm.self), answers: { .file }) { request, _ in
                let path = try watch.files.path(of: request["id"])
                return .file(path: path, name: FilePath.name(of: path))
            },
            route(.delete, "/files/{id}", .overTheNetwork, changes: [.files]) { request in
                try watch.files.remove(request["id"])
                return DoneReport(done: true)
            },
        ]
    }

    static var message: RouteInput<TextForm> { .json(TextForm.self, limit: contentByteLimit) }

    static func text(ofMessage form: TextForm) throws -> String {
        guard !form.text.isEmpty else { throw RouteRequest.badField("text", "is empty: write something") }
        return form.text
    }

    /// Returns the name under which the peer gets the file, once it is checked.
    private static func fileName(_ name: String) throws -> String {
        guard name.utf8.count <= fileNameByteLimit, FilePath.isComponent(name) else {
            throw RouteRequest.badField("name", "must be a file's name: 1 to \(fileNameByteLimit) bytes, no slashes")
        }
        return name
    }
}

/// A file that a peer has, without the place where it lay meanwhile.
struct FileSentView: Codable {
    let peerId: String
    /// The name of the file at the peer.
    let name: String
    let bytes: UInt64
    /// Whether the file has grown since it was offered.
    let hasGrown: Bool
    let milliseconds: Int

    init(_ report: FileSentReport) {
        name = report.name
        peerId = report.peerId
        bytes = report.bytes
        hasGrown = report.hasGrown
        milliseconds = report.milliseconds
    }
}
