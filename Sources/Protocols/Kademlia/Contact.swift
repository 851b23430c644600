package import Identity

/// A member as other members describe it: its id and its addresses.
///
/// It is an unverified candidate until the peer itself has been admitted on a connection; only such peers enter the
/// routing table.
package struct Contact: Hashable, Sendable {
    /// The most addresses that a contact carries between nodes, the most promising first.
    package static let addressLimit = 4

    package var peerId: PeerId
    /// Empty when the peer cannot be dialled; then only peers that it connected to can query it.
    package var addresses: [SocketAddress]

    package init(peerId: PeerId, addresses: [SocketAddress]) {
        self.peerId = peerId
        self.addresses = addresses
    }
}
