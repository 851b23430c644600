internal import Identity

/// The result of one read from a socket.
enum Reception {
    case datagram(MulticastDatagram)
    /// A datagram arrived that is too short or too long to be delivered.
    case ignored
    /// No datagram is available.
    case empty
    /// The socket can no longer be used.
    case failed
}

extension IPAddress {
    /// Returns this IPv6 address on one interface; an IPv4 address unchanged.
    func scoped(_ interface: UInt32) -> IPAddress {
        guard case .v6(let high, let low, _) = self else { return self }
        return .v6(high: high, low: low, scope: interface)
    }
}
