/// How to reach a peer: who it is, in which network, where it was last, and its token there.
///
/// The address is a hint. Who answers there proves with its key that it is the peer, whatever the text said.
public struct PeerConnectionData: Hashable, Sendable {
    /// Whom to reach.
    public let peerId: PeerId
    /// In which network.
    public let networkId: NetworkId
    /// Where, as `address:port`.
    public let address: String
    /// The peer's own token in the network.
    public let token: AccessToken

    /// Puts the parts together.
    public init(peerId: PeerId, networkId: NetworkId, address: String, token: AccessToken) {
        self.peerId = peerId
        self.networkId = networkId
        self.address = address
        self.token = token
    }

    /// Puts the parts together.
    public init(peerId: PeerId, networkId: NetworkId, address: SocketAddress, token: AccessToken) {
        self.init(peerId: peerId, networkId: networkId, address: address.description, token: token)
    }

    /// The address read, or nil when its text is none.
    public var socketAddress: SocketAddress? { SocketAddress(address) }

    /// Refuses parts that do not belong together.
    func check() throws(IdentityError) {
        guard token.peerId == peerId, token.networkId == networkId else {
            throw .malformed(of: "peer connection data", reason: "its access token is of another peer or network")
        }
    }
}
