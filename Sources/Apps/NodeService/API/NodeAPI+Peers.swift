package import APIDescription
package import CommandModel
internal import Foundation
internal import HTTPAPI
internal import Identity
package import NodeModel
internal import Platform
internal import RunarNode

// Peers, messages and files.
extension Operations {
    /// The largest file that a page sends.
    private static let fileByteLimit: UInt64 = 4 << 30

    /// The connected peers, or all that are known or found in the hash tables.
    package static let peers = Operation<NoPath, Joined<PeersQuery, PageQuery>, PeersView>(
        .get,
        "/peers",
        .overTheNetwork
    )

    static let peer = Operation<PeerName, NoForm, PeerView>(.get, "/peers/{peer}", .overTheNetwork)

    /// Dials a peer, in a network that both are in if none is named.
    package static let connect = Operation<PeerName, ConnectForm, ConnectReport>(
        .post,
        "/peers/{peer}/connect",
        .overTheNetwork,
        needsNetwork: true,
        changes: [.peers]
    )

    static let disconnect = Operation<PeerName, NoForm, DoneReport>(
        .post,
        "/peers/{peer}/disconnect",
        .overTheNetwork,
        changes: [.peers]
    )

    /// Connects by the text of another device.
    package static let connectByText = Operation<NoPath, TextForm, ConnectReport>(
        .post,
        "/connect",
        .overTheNetwork,
        needsNetwork: true,
        changes: [.peers]
    )

    /// Sends a message to a peer.
    package static let send = Operation<PeerName, TextForm, SentReport>(
        .post,
        "/peers/{peer}/messages",
        .overTheNetwork,
        limit: NodeAPI.contentByteLimit,
        needsNetwork: true,
        requiredPeers: { peer, _ in .peer(peer) }
    )

    /// Sends a message to the members of a network that are connected.
    package static let broadcast = Operation<NetworkName?, TextForm, BroadcastReport>(
        .post,
        "/networks/{network}/broadcast",
        .overTheNetwork,
        limit: NodeAPI.contentByteLimit,
        needsNetwork: true,
        requiredPeers: { network, _ in .member(network) }
    )

    static let messages = Operation<NoPath, MessagesQuery, NodeAPI.Messages>(.get, "/messages", .overTheNetwork)

    static let sendFile = Operation<PeerName, FileQuery, FileSentView>(
        .post,
        "/peers/{peer}/files",
        .overTheNetwork,
        .updates([.transferred]),
        body: .file(limit: fileByteLimit),
        needsNetwork: true
    )

    static let offers = Operation<NoPath, NoForm, FileStore.Waiting>(.get, "/offers", .overTheNetwork)

    /// The person's decision about an offered file.
    package static let answerOffer = Operation<RequestNumber, OfferForm, DoneReport>(
        .post,
        "/offers/{number}",
        .overTheNetwork
    )

    static let files = Operation<NoPath, NoForm, FileStore.Content>(.get, "/files", .overTheNetwork)

    static let file = Operation<FileName, NoForm, FileAnswer>(.get, "/files/{id}", .overTheNetwork, .file)

    static let removeFile = Operation<FileName, NoForm, DoneReport>(
        .delete,
        "/files/{id}",
        .overTheNetwork,
        changes: [.files]
    )
}

extension NodeAPI {
    struct Messages: Codable {
        let messages: [MessageHistory.Message]
    }

    private static let fileNameByteLimit = 255
    /// A message of the largest size has room, with every byte escaped.
    static let contentByteLimit = 16 << 20

    var peerOperations: [APIOperation] {
        [
            serve(Operations.peers) { request in
                let (query, page) = request.form.parts
                if query.find == true { await handler.findMembers() }
                let network = query.network.map { NetworkName(form: $0) }
                return try handler.peersView(all: query.all ?? false, in: network, page.page())
            },
            serve(Operations.peer) { try handler.peerView($0.path) },
            serve(Operations.connect) { request in
                let form = request.form
                return try await handler.connect(
                    request.path,
                    form.network.map { NetworkName(form: $0) },
                    form.address.flatMap { $0.isEmpty ? nil : $0 },
                    overRelay: form.relay ?? false
                )
            },
            serveAction(Operations.disconnect) { node.disconnectPeer(try handler.resolve($0.path)) },
            serve(Operations.connectByText) { try await handler.connect(byText: Self.text($0.form.text)) },
            serve(Operations.send) { try await handler.send(Self.text(ofMessage: $0.form), to: $0.path) },
            serve(Operations.broadcast) { try await handler.broadcast(Self.text(ofMessage: $0.form), in: $0.path) },
            serve(Operations.messages) { request in
                let peer = try request.form.peer.map { try handler.resolve(PeerName(form: $0)) }
                let since = try RouteRequest.number(request.form.since, "since", in: 0...Int.max) ?? 0
                return Messages(messages: try watch.messages.messages(with: peer, since: since))
            },
        ] + fileOperations
    }

    private var fileOperations: [APIOperation] {
        [
            stream(Operations.sendFile) { request in
                let name = try Self.fileName(request.form.name)
                let peer = try handler.resolve(request.path)
                guard let file = request.file else {
                    throw RouteFailure(400, "no-file", "send the file as the body of the request")
                }
                return { tell in
                    FileSentView(try await handler.sendFile(file.path, named: name, to: peer, tell))
                }
            },
            serve(Operations.offers) { _ in FileStore.Waiting(offers: try watch.files.offers) },
            serveAction(Operations.answerOffer) { request in
                let form = request.form
                if form.directory != nil { try request.checkUser() }
                let directory = form.accept ? try form.directory ?? watch.files.makeDirectory() : nil
                try handler.files.answer(request.path.value, directory)
            },
            serve(Operations.files) { _ in
                FileStore.Content(directory: try watch.files.directory, files: try watch.files.files())
            },
            respond(to: Operations.file) { request in
                let path = try watch.files.path(of: request.path.text)
                return .file(path: path, name: FilePath.name(of: path))
            },
            serveAction(Operations.removeFile) { try watch.files.remove($0.path.text) },
        ]
    }

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
