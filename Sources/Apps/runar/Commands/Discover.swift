internal import ArgumentParser
internal import NodeService

/// Looks for members.
struct Discover: NetworkCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the members that are found without an address being typed, and how.",
        discussion: """
            Nearby are those that are heard on the local network; the hash table knows those of whom other members \
            told, and who answered. The node connects to both kinds by itself.
            """
    )

    @Option(help: "Only this network.")
    var network: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func request() -> APIRequest<DiscoverReport> { .discover(network.map { NetworkName($0) }) }
}
