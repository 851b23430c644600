internal import ArgumentParser
internal import CommandModel
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform

/// The command that lists peers.
struct Peers: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List the peers that are connected and admitted, or all that are known.",
        discussion: "Every id here may be shortened to its first characters, or named by its label, in other commands."
    )

    @Flag(help: "Also list known peers that are not connected.")
    var all = false
    @OptionGroup var home: HomeOptions

    func request() -> APIRequest<PeersReport> {
        Operations.peers(Joined(PeersQuery(all: all), PageQuery.whole)).reading(PeersReport.self)
    }
}

/// Dials a peer.
struct Connect: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Dial a member of a network; the running node keeps the connection.",
        discussion: """
            Give a connection text (`runar network address` on the other device), or the peer's id or label, the network \
            if you share several, and, if you know it, an address. Without an address other members are asked for it, and coordinate the \
            connection if neither side can dial the other.
            """
    )

    @Argument(help: "A connection text, a file with one or -; or PEER [NETWORK [IP:PORT]].", completion: .file())
    var words: [String]
    @Flag(help: "With PEER NETWORK: begin over another member, even if a direct path works; it becomes direct later.")
    var relay = false
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func validate() throws {
        guard !relay || words.count == 2 else { throw ValidationError("--relay goes with PEER NETWORK.") }
        guard (1...3).contains(words.count) else {
            throw ValidationError("Give one connection text, or PEER [NETWORK [IP:PORT]].")
        }
    }

    func request() throws -> APIRequest<ConnectReport> {
        guard words.count > 1 else {
            return try isPeer(words[0])
                ? Operations.connect(PeerName(words[0]), ConnectForm(network: nil, address: nil, relay: false))
                : Operations.connectByText(TextForm(InputText.pasted(words, limit: 16 * 1024)))
        }
        let form = ConnectForm(network: words[1], address: words.dropFirst(2).first, relay: relay)
        return Operations.connect(PeerName(words[0]), form)
    }

    /// Whether a single word is an id or the name of a peer: no text, and no file has this name.
    private func isPeer(_ word: String) throws -> Bool {
        // The characters of base64 include a slash.
        guard PeerId(word) == nil else { return true }
        guard word != "-", !word.contains("{"), !word.contains("/"), !Link.isOurs(word) else { return false }
        let kind = try SystemFileSystem().status(of: HomeOptions.absolute(word), followingLink: true)?.kind
        return kind == nil || kind == .directory
    }
}
