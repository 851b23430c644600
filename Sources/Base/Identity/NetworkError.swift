/// Why something with a network did not succeed.
public enum NetworkError: Error, Hashable, Sendable {
    /// The metadata is not signed by the network's own key.
    case invalidSignature
    /// The token is not one for this peer in this network, or not one any more.
    case invalidToken
    /// The token does not admit the peer, for this reason.
    case refused(TokenProblem)
    /// This node is not in the network.
    case unknownNetwork(NetworkId)
    /// This node does not hold the key of the network.
    case notOwner(NetworkId)
}

extension NetworkError: CustomStringConvertible {
    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .invalidSignature:
            "the network's description was not signed by the network; scan it again from its owner's device"
        case .invalidToken:
            "the access token does not admit this device; ask the network's owner for one for this device's peer id"
        case .refused(let problem):
            problem.description
        case .unknownNetwork(let id):
            "this device is not in network \(id.short); join it first"
        case .notOwner(let id):
            "only the owner of network \(id.short) can do this, on a device that holds the root key"
        }
    }
}
