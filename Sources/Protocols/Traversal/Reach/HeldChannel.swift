internal import Identity

/// A way to a peer over a third one.
struct HeldChannel: Sendable {
    let peer: PeerId
    let relay: PeerId
    let network: NetworkId
    let session: SessionId
}
