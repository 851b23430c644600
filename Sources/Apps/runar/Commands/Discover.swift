internal import ArgumentParser
internal import NodeModel
internal import NodeService

/// Looks for members.
struct Discover: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "List the members that were discovered without a typed address, and how.",
        discussion: """
            Members are discovered nearby, on the local network, or in the hash table, where other members named them \
            and they answered. The node connects to both kinds by itself.
            """
    )

    @Option(help: "Only this network.")
    var network: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func request() -> APIRequest<DiscoverReport> { Operations.discover(network.map { NetworkName($0) }) }
}
