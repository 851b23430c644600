package import Identity

/// The address of a peer as a connection showed it.
package struct ObservedAddress: Hashable, Sendable {
    package let address: SocketAddress
    /// Whether the peer answered a dial there; otherwise it dialled from there, since a node has one socket for both.
    package let hasAnswered: Bool

    package init(address: SocketAddress, hasAnswered: Bool) {
        self.address = address
        self.hasAnswered = hasAnswered
    }

    /// The address of the remote end of a link; nil if another node could not dial it.
    init?(of link: Link) {
        guard link.address.isDialable else { return nil }
        self.init(address: link.address, hasAnswered: link.isDialler)
    }
}
