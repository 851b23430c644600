public import Identity

/// The path of a connected peer's packets.
public enum PeerPath: Hashable, Sendable {
    /// Straight to this address, with only routers between.
    case direct(SocketAddress)
    /// Over another member, which forwards packets that it cannot read; nil while that member is not known.
    case relayed(over: PeerId?)
}

extension PeerPath {
    /// Whether another member passes the packets on.
    public var isRelayed: Bool {
        if case .relayed = self { true } else { false }
    }

    /// The address to which packets go directly.
    public var address: SocketAddress? {
        if case .direct(let address) = self { address } else { nil }
    }

    /// The relay of the packets, if it is known.
    public var relay: PeerId? {
        if case .relayed(let relay) = self { relay } else { nil }
    }
}

extension PeerPath: CustomStringConvertible {
    /// For people: `direct, at 192.0.2.1:4433` or `over` and the relay's short id.
    public var description: String {
        switch self {
        case .direct(let address): "direct, at \(address)"
        case .relayed(let relay?): "over \(relay.short)"
        case .relayed(nil): "over another member"
        }
    }
}
