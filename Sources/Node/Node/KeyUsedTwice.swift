internal import Concurrency
package import Identity
internal import NodeCore

/// A device key that two running nodes use: one of them has a copy of the other's data directory.
package struct KeyUsedTwice: Hashable, Sendable {
    /// The device, which may be this one.
    package let peer: PeerId
    /// The first sign of it, in seconds since 1970.
    package let firstSeenSeconds: UInt64
    /// The last sign of it, in seconds since 1970.
    package let lastSeenSeconds: UInt64
    /// The addresses of the nodes that use the key; empty if only other peers noticed that this device's key is used twice.
    package let addresses: [SocketAddress]
}

extension NodeDriver {
    /// The device keys that two running nodes use, as far as this node noticed lately.
    package var keysUsedTwice: [KeyUsedTwice] {
        let now = configuration.clock.now()
        return state.withLock { $0.core.keysUsedTwice(at: now) }.map {
            KeyUsedTwice(
                peer: $0.peer,
                firstSeenSeconds: $0.firstSeen.wallSeconds,
                lastSeenSeconds: $0.lastSeen.wallSeconds,
                addresses: $0.addresses
            )
        }
    }
}
