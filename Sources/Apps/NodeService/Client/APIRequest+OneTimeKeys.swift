internal import Console

// One-time keys, and messages that are sealed with them.

extension APIRequest where Answer == KeyRelationshipsReport {
    /// The one-time keys of this device and all peers.
    package static var keyRelationships: Self { Self(.get, "one-time-keys") }
}

extension APIRequest where Answer == KeyRelationshipReport {
    /// Exchanges one-time keys with a peer.
    package static func exchangeKeys(with peer: PeerName) -> Self {
        Self(.post, "peers/{peer}/one-time-keys", ["peer": peer.text], requiredPeers: .peer(peer))
    }

    /// Confirms that the safety number on the peer's screen has these digits.
    package static func verifyKeys(of peer: PeerName, digits: String) -> Self {
        Self(.post, "peers/{peer}/one-time-keys/verify", ["peer": peer.text], body: TextForm(text: digits))
    }
}

extension APIRequest where Answer == DoneReport {
    /// Deletes the one-time keys of this device and a peer.
    package static func removeKeys(of peer: PeerName) -> Self {
        Self(.delete, "peers/{peer}/one-time-keys", ["peer": peer.text])
    }
}

extension APIRequest where Answer == SentReport {
    /// Sends a text that is sealed to a one-time key of the peer.
    package static func sendSealed(_ peer: PeerName, text: String) -> Self {
        Self(
            .post,
            "peers/{peer}/sealed-messages",
            ["peer": peer.text],
            body: TextForm(text: text),
            requiredPeers: .peer(peer)
        )
    }
}
