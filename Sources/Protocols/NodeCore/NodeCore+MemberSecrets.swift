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
        guard let before = memberships[network] else { return }
        let isInUse = memberships[network]?.secrets.insert(secret) ?? false
        // A member answered the probes.
        if source != nil { memberships[network]?.secrets.rendezvous = nil }
        guard let secrets = memberships[network]?.secrets.member, secrets != before.secrets.member else { return }
        turn.emit(.membership(.persistSecrets(secrets)))
        announce(network, &turn)
        guard isInUse else { return }
        for id in before.connections.elements where id != source { offerSecret(of: network, on: id, &turn) }
    }

    /// Names the secret in use here, so that a peer with a later one sends that.
    mutating func sendSecretStamp(of network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        guard let index = connections[id]?.peerings[network]?.index else { return }
        let stamp = SecretStamp(of: memberships[network]?.secrets.member?.newest)
        connections.send(.memberSecretKnown(index: index, stamp), on: id, &turn)
    }

    /// Sends the secret in use, now or after the revocations.
    private mutating func offerSecret(of network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        guard let peering = connections[id]?.peerings[network], peering.state == .admitted,
            let secret = memberships[network]?.secrets.member?.newest
        else { return }
        guard peering.knowsRevocations else {
            connections[id]?.peerings[network]?.isOwedSecret = true
            return
        }
        connections.send(.memberSecret(index: peering.index, secret), on: id, &turn)
    }

    /// Notes that every known revocation was sent on the connection, and sends the secret that waited for this.
    mutating func revocationsTold(in network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        connections[id]?.peerings[network]?.knowsRevocations = true
        guard connections[id]?.peerings[network]?.isOwedSecret == true else { return }
        connections[id]?.peerings[network]?.isOwedSecret = false
        offerSecret(of: network, on: id, &turn)
    }

    mutating func secretStampReceived(_ index: UInt8, _ stamp: SecretStamp, on id: ConnectionId, _ turn: inout Turn) {
        guard let network = connections[id]?.admittedNetwork(index),
            SecretStamp(of: memberships[network]?.secrets.member?.newest).replaces(stamp)
        else { return }
        offerSecret(of: network, on: id, &turn)
    }

    mutating func secretReceived(_ index: UInt8, _ secret: MemberSecret, on id: ConnectionId, _ turn: inout Turn) {
        guard let network = connections[id]?.admittedNetwork(index) else { return }
        guard secret.networkId == network else {
            return disconnectViolator(id, "a member secret of another network", &turn)
        }
        // A secret that is known already costs no signature check.
        guard memberships[network]?.secrets.member?.all.contains(secret) != true else { return }
        guard configuration.verifier.memberSecret(secret) else {
            return disconnectViolator(id, "a member secret that the network's key did not sign", &turn)
        }
        addSecret(secret, from: id, &turn)
    }
}
