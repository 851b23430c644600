public import Identity

/// What came of a join.
public struct NewMembership: Hashable, Sendable {
    /// What the network says about itself.
    public let metadata: NetworkMetadata
    /// Whether the inviter and this device were connected as members of it.
    public let isConnected: Bool
}
