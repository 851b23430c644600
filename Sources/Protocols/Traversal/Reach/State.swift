internal import Bytes
internal import Crypto
internal import Identity
internal import OrderedCollections

/// A peer with which this node is connected.
struct Peer: Sendable {
    /// The networks in which the two are admitted.
    var networks: OrderedSet<NetworkId> = []
    var link: Reach.Link
    /// Whether the connection's path does not answer.
    var isSuspect = false
    /// How often it was called in vain for that.
    var retries = 0
    /// Where this node's datagrams come from, as the peer says.
    var observed: SocketAddress?
    /// Where the peer's come from, as this node told it.
    var told: SocketAddress?
    /// Where the peer was without a relay.
    var lastDirect: SocketAddress?
    /// The ports beside the node's own over which the connection may run.
    var ports: [UInt16] = []
    /// The calls that it makes over this node, and those of others that it announces to it.
    var calls = Allowance()
    var rings = Allowance()
    /// The answers to its probes under the connection's key.
    var answers = Allowance()

    init(link: Reach.Link) {
        self.link = link
    }

    /// The channel over which the connection runs.
    var channel: ChannelId? { ChannelId(address: self.link.remote) }
}

/// A way to a peer over a third one.
struct HeldChannel: Sendable {
    let peer: PeerId
    let relay: PeerId
    let network: NetworkId
    let call: CallId
}

/// A call between two others.
struct BrokeredCall: Sendable {
    let caller: PeerId
    let callee: PeerId
    let network: NetworkId
    /// The caller's end of a channel, and the callee's.
    var channels: (caller: ChannelId, callee: ChannelId)?
    /// When it is given up unless it is answered; nil once it was.
    var expiry: Duration?

    /// The other side of the call; nil for whoever has no part in it.
    func other(than peer: PeerId) -> PeerId? {
        switch peer {
        case self.caller: self.callee
        case self.callee: self.caller
        default: nil
        }
    }
}

/// When a connection over a relay is tried to be made direct.
struct Upgrade: Sendable {
    let since: Duration
    var attempts = 0
    var due: Duration
    /// Whether this device's network changed: then it calls, whoever dialled.
    var isUrgent = false
}

/// Draws what nobody may guess, from a secret.
struct SecretSource: Sendable {
    private static let label = Array("runar/reach/v1".utf8)
    private let secret: SecretBytes
    private var count: UInt64 = 0

    init(secret: SecretBytes) {
        self.secret = secret
    }

    /// Thirty-two bytes that were never drawn before.
    private mutating func draw() -> [UInt8] {
        self.count += 1
        var writer = ByteWriter(capacity: 32)
        writer.write(Self.label)
        writer.write(self.count)
        return self.secret.withBytes { key in
            Array(HMAC<SHA256>.authenticationCode(for: writer.bytes, using: SymmetricKey(data: key)))
        }
    }

    /// A new call's id and key.
    mutating func call() -> PathKey {
        while true {
            if let key = PathKey(self.draw().prefix(PathKey.byteCount)) { return key }
        }
    }

    mutating func channel() -> ChannelId {
        ChannelId(self.draw().prefix(ChannelId.byteCount).reduce(0) { $0 << 8 | UInt64($1) })
    }
}
