internal import Discovery
internal import Identity

// Members pass on member secrets to other members, always after the revocations that caused them.
//
// The owner's node creates a secret at each revocation, and sends the revocation first on every connection. A member passes
// the secret on only after it has sent every revocation that it knows. By induction, no member learns a secret without the
// revocations of the peers that must not learn it.
extension NodeCore {
    /// Adds a secret whose signature was verified.
    mutating func addSecret(_ secret: MemberSecret, from source: ConnectionId? = nil, _ turn: inout Turn) {
        let network = secret.networkId
        guard let before = self.memberships[network] else { return }
        let isInUse = self.memberships[network]?.secrets.insert(secret) ?? false
        // A member answered the probes.
        if source != nil { self.memberships[network]?.secrets.rendezvous = nil }
        guard let secrets = self.memberships[network]?.secrets.member, secrets != before.secrets.member else { return }
        turn.emit(.membership(.persistSecrets(secrets)))
        self.announce(network, &turn)
        guard isInUse else { return }
        for id in before.connections.elements where id != source { self.offerSecret(of: network, on: id, &turn) }
    }

    /// Names the secret in use here, so that a peer with a later one sends that.
    mutating func sendSecretStamp(of network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        guard let index = self.connections[id]?.peerings[network]?.index else { return }
        let stamp = SecretStamp(of: self.memberships[network]?.secrets.member?.newest)
        self.connections.send(.memberSecretKnown(index: index, stamp), on: id, &turn)
    }

    /// Sends the secret in use, now or after the revocations.
    private mutating func offerSecret(of network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        guard let peering = self.connections[id]?.peerings[network], peering.state == .admitted,
            let secret = self.memberships[network]?.secrets.member?.newest
        else { return }
        guard peering.knowsRevocations else {
            self.connections[id]?.peerings[network]?.isOwedSecret = true
            return
        }
        self.connections.send(.memberSecret(index: peering.index, secret), on: id, &turn)
    }

    /// Notes that every known revocation was sent on the connection, and sends the secret that waited for this.
    mutating func revocationsTold(in network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        self.connections[id]?.peerings[network]?.knowsRevocations = true
        guard self.connections[id]?.peerings[network]?.isOwedSecret == true else { return }
        self.connections[id]?.peerings[network]?.isOwedSecret = false
        self.offerSecret(of: network, on: id, &turn)
    }

    mutating func secretStampReceived(_ index: UInt8, _ stamp: SecretStamp, on id: ConnectionId, _ turn: inout Turn) {
        guard let network = self.connections[id]?.admittedNetwork(index),
            SecretStamp(of: self.memberships[network]?.secrets.member?.newest).replaces(stamp)
        else { return }
        self.offerSecret(of: network, on: id, &turn)
    }

    mutating func secretReceived(_ index: UInt8, _ secret: MemberSecret, on id: ConnectionId, _ turn: inout Turn) {
        guard let network = self.connections[id]?.admittedNetwork(index) else { return }
        guard secret.networkId == network else {
            return self.disconnectViolator(id, "a member secret of another network", &turn)
        }
        // A secret that is known already costs no signature check.
        guard self.memberships[network]?.secrets.member?.all.contains(secret) != true else { return }
        guard self.configuration.verifier.memberSecret(secret) else {
            return self.disconnectViolator(id, "a member secret that the network's key did not sign", &turn)
        }
        self.addSecret(secret, from: id, &turn)
    }
}
