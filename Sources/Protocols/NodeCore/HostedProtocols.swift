internal import Bytes
internal import Discovery
internal import Identity
internal import Kademlia
internal import Mailbox
internal import OneTimeKeys
internal import PubSub
internal import Services
internal import Traversal

/// The protocols that the node runs: four with a value for each network, and three that serve all networks.
struct HostedProtocols: Sendable {
    var tables = PerNetwork<Kademlia>()
    var events = PerNetwork<PubSub>()
    var services = PerNetwork<Services>()
    var mailboxes = PerNetwork<Mailbox>()
    var discovery: PerNode<Discovery>
    /// The ways to peers that cannot simply be dialled.
    var reach: PerNode<Reach>
    /// The one-time keys that are agreed on with peers.
    var keys: PerNode<KeyExchanges>

    init(_ configuration: NodeCore.Configuration, using random: inout SeededGenerator) {
        let reach = Reach.Configuration(
            localPeerId: configuration.peerId,
            secret: configuration.nonceKey,
            randomSeed: random.next()
        )
        let discovery = Discovery.Configuration(
            signer: configuration.signer,
            instance: configuration.instance,
            nonceKey: configuration.nonceKey,
            randomSeed: random.next(),
            limits: configuration.discoveryLimits,
            verifier: Discovery.Verifier(
                token: configuration.verifier.token,
                signature: configuration.verifier.signature,
                seal: configuration.verifier.seal
            )
        )
        self.reach = PerNode(Reach(reach))
        self.discovery = PerNode(Discovery(discovery))
        let keys = KeyExchanges.Configuration(
            signer: configuration.signer,
            secret: configuration.nonceKey,
            verifySignature: configuration.verifier.signature,
            limits: configuration.keyExchangeLimits
        )
        self.keys = PerNode(KeyExchanges(keys))
    }

    /// Starts the protocols of a network.
    mutating func add(
        _ network: NetworkId,
        _ configuration: NodeCore.Configuration,
        using random: inout SeededGenerator
    ) {
        let table = Kademlia.Configuration(
            localPeerId: configuration.peerId,
            networkId: network,
            signer: configuration.signer,
            verifySignature: configuration.verifier.signature,
            verifyToken: configuration.verifier.token,
            randomSeed: random.next(),
            limits: configuration.tableLimits
        )
        let events = PubSub.Configuration(
            localPeerId: configuration.peerId,
            networkId: network,
            instance: configuration.instance,
            signer: configuration.signer,
            verifySignature: configuration.verifier.signature,
            verifyToken: configuration.verifier.token,
            randomSeed: random.next(),
            limits: configuration.eventLimits
        )
        tables.add(Kademlia(table), for: network)
        self.events.add(PubSub(events), for: network)
        services.add(Services(limits: configuration.serviceLimits), for: network)
        let mailbox = Mailbox.Configuration(
            localPeerId: configuration.peerId,
            networkId: network,
            secret: configuration.nonceKey,
            randomSeed: random.next(),
            holdsMail: configuration.holdsMail,
            limits: configuration.mailboxLimits,
            seal: configuration.verifier.sealDeposit
        )
        mailboxes.add(Mailbox(mailbox), for: network)
    }

    mutating func remove(_ network: NetworkId) {
        tables.remove(network)
        events.remove(network)
        services.remove(network)
        mailboxes.remove(network)
    }

    /// Requests the earliest wake of each protocol.
    func arm(_ timers: inout Timers, _ turn: inout Turn) {
        if let time = discovery.wakeAt { timers.arm(time, &turn) }
        if let time = reach.wakeAt { timers.arm(time, &turn) }
        if let time = keys.wakeAt { timers.arm(time, &turn) }
        if let time = tables.nextWake { timers.arm(time, &turn) }
        if let time = events.nextWake { timers.arm(time, &turn) }
        if let time = services.nextWake { timers.arm(time, &turn) }
        if let time = mailboxes.nextWake { timers.arm(time, &turn) }
    }
}
