/// That a person disconnected two devices.
public struct PeerParting: Hashable, Sendable {
    /// Whether that was on this device; else the other one said so.
    public let isOurs: Bool
    /// How long the two do not connect by themselves.
    public let secondsLeft: UInt64
}
