public import Identity

/// The outcome of a join.
public struct NewMembership: Hashable, Sendable {
    /// The network's own description.
    public let metadata: NetworkMetadata
    /// Whether the inviter and this device were connected as members of it.
    public let isConnected: Bool
}
