package import APIDescription
internal import Foundation
internal import HTTPAPI
package import NodeModel
internal import RunarNode

// One-time keys, and messages that are sealed with them.
extension Operations {
    /// The one-time keys of this device and all peers.
    package static let keyRelationships = Operation<NoPath, NoForm, KeyRelationshipsReport>(
        .get,
        "/one-time-keys",
        .overTheNetwork
    )

    /// Exchanges one-time keys with a peer.
    package static let exchangeKeys = Operation<PeerName, NoForm, KeyRelationshipReport>(
        .post,
        "/peers/{peer}/one-time-keys",
        .overTheNetwork,
        needsNetwork: true,
        changes: [.keys],
        requiredPeers: { peer, _ in .peer(peer) }
    )

    /// Confirms that the safety number on the peer's screen has these digits.
    package static let verifyKeys = Operation<PeerName, TextForm, KeyRelationshipReport>(
        .post,
        "/peers/{peer}/one-time-keys/verify",
        .overTheNetwork,
        changes: [.keys]
    )

    /// Deletes the one-time keys of this device and a peer.
    package static let removeKeys = Operation<PeerName, NoForm, DoneReport>(
        .delete,
        "/peers/{peer}/one-time-keys",
        .overTheNetwork,
        changes: [.keys]
    )

    /// Sends a text that is sealed to a one-time key of the peer.
    package static let sendSealed = Operation<PeerName, TextForm, SentReport>(
        .post,
        "/peers/{peer}/sealed-messages",
        .overTheNetwork,
        limit: NodeAPI.contentByteLimit,
        needsNetwork: true,
        requiredPeers: { peer, _ in .peer(peer) }
    )
}

extension NodeAPI {
    var oneTimeKeyOperations: [APIOperation] {
        [
            serve(Operations.keyRelationships) { _ in try handler.keyRelationships() },
            serve(Operations.exchangeKeys) { try await handler.exchangeKeys(with: $0.path) },
            serve(Operations.verifyKeys) { try await handler.verifyKeys(of: $0.path, digits: $0.form.text) },
            serve(Operations.removeKeys) { try await handler.removeKeys(of: $0.path) },
            serve(Operations.sendSealed) { try await handler.sendSealed(Self.text(ofMessage: $0.form), to: $0.path) },
        ]
    }
}
