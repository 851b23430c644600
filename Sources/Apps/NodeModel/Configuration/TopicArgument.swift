internal import CommandModel
package import Identity

/// A topic or the path of a request as a person writes it, `[network:]segment/segment/…`, with its network.
package struct TopicArgument {
    package let path: TopicPath
    /// Nil for the only one.
    package let network: NetworkName?

    /// - Throws: ``CommandFailure`` when it is no path, or two networks are named.
    package init(_ text: String, network: String?) throws {
        let path = try TopicPath(text)
        guard path.network.isEmpty || network == nil else {
            throw CommandFailure(
                "two-networks",
                .usage,
                "the path names network \(path.network) and --network \(network ?? ""): name one of them"
            )
        }
        self.path = path
        self.network = (path.network.isEmpty ? network : path.network).map { NetworkName($0) }
    }
}
