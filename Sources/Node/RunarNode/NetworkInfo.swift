public import Essentials
public import Identity

/// The information that this device has about a network.
public struct NetworkInfo: Hashable, Sendable {
    /// Which network.
    public let networkId: NetworkId
    /// The owner's description of it; nil until its text was given to this device.
    public let metadata: NetworkMetadata?
    /// Whether this device signs for it, by its root key or by the network's key that it was given.
    public let isOwner: Bool
    /// The derivation index of its key under the root key; nil where that does not own it.
    public let index: UInt32?
    /// This device's token; nil when it is no member.
    public let token: AccessToken?

    /// The owner's name for it; nil when its metadata are not known.
    public var name: String? { metadata?.name }

    /// The version of its metadata, 1 at first and one more with each change; nil when they are not known.
    public var version: UInt32? { metadata?.version }

    /// Whether this device has a token, valid or expired.
    public var isMember: Bool { token != nil }

    /// The time at which the membership ends; nil for never, or without one.
    public var expiration: Date? { token?.expiration }
}
