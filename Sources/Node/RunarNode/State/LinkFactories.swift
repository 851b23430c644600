/// The ways to open a node's links to the network.
struct LinkFactories: Sendable {
    let makeEndpoint: RunarNode.EndpointFactory
    let makeLink: RunarNode.LinkFactory
    let makeAddressWatch: RunarNode.LinkFactory
}
