/// A manual disconnect of two devices by a person.
public struct PeerDisconnect: Hashable, Sendable {
    /// Whether this device ended the connection; otherwise the peer did.
    public let isOurs: Bool
    /// The time for which the two do not connect by themselves, in seconds.
    public let secondsLeft: UInt64
}
