/// Why a connection to a peer did not come about.
public enum ConnectionError: Error, Hashable, Sendable {
    /// The connection data are for another network, or their token does not verify.
    case invalidData
    /// No address of the peer is known.
    case noAddress(PeerId)
    /// There is no admitted connection to the peer.
    case notConnected(PeerId)
}

extension ConnectionError: CustomStringConvertible {
    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .invalidData:
            "the connection data do not fit this network; have the other device show its code again"
        case .noAddress(let peer):
            "no address of peer \(peer.short) is known; bring both devices into one local network or give an address"
        case .notConnected(let peer):
            "peer \(peer.short) is not connected; it may be offline"
        }
    }
}
