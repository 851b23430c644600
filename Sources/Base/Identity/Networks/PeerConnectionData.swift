/// The data to reach a peer: its id, the network, its last address, and its token there.
///
/// The address is a hint: the peer at that address proves its id with its key.
public struct PeerConnectionData: Hashable, Sendable {
    /// The peer to reach.
    public let peerId: PeerId
    /// The network in which to reach it.
    public let networkId: NetworkId
    /// The address at which it was last, as `address:port`.
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
