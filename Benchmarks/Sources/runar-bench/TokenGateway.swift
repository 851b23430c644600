internal import CryptoPrimitives
internal import Identity
internal import Platform
internal import WireGuard

/// The responder of handshakes, as a value.
struct TokenGateway {
    /// The keys of one client.
    struct ClientKeys {
        let number: Int
        let key: X25519PrivateKey
        let preshared: PresharedKey
    }

    private let publicKey: X25519PublicKey
    private var interface: WireGuardInterface

    init(using random: inout SystemRandom) {
        let key = X25519PrivateKey(using: &random)
        publicKey = key.publicKey
        interface = WireGuardInterface(.init(privateKey: key))
    }

    /// Configures a new peer as a redemption does: a preshared key, and one address of each family.
    mutating func addKeys(_ number: Int, using random: inout SystemRandom) -> ClientKeys {
        let keys = ClientKeys(
            number: number,
            key: X25519PrivateKey(using: &random),
            preshared: PresharedKey(using: &random)
        )
        var change = WireGuardInterface.PeerChange()
        change.presharedKey = keys.preshared
        change.allowedAddresses = [
            AddressPrefix(TokenClient.address(number), length: 32),
            AddressPrefix(.v6(high: 0xFD66 << 48, low: UInt64(number), scope: 0), length: 128),
        ].compactMap(\.self)
        _ = interface.handle(.configured(.peer(keys.key.publicKey, change)), at: Self.moment(.zero), using: &random)
        return keys
    }

    /// Returns the client of the keys.
    func client(_ keys: ClientKeys) -> TokenClient { TokenClient(keys, gateway: publicKey) }

    /// Configures a new peer and returns its client.
    mutating func addClient(_ number: Int, using random: inout SystemRandom) -> TokenClient {
        client(addKeys(number, using: &random))
    }

    /// Returns the response to an initiation of client `number`.
    mutating func respond(
        to initiation: [UInt8],
        _ number: Int,
        at time: Duration,
        using random: inout SystemRandom
    ) throws -> [UInt8] {
        let source = TokenClient.endpoint(number)
        let moment = Self.moment(time)
        let effects = interface.handle(.datagramReceived(initiation, from: source), at: moment, using: &random)
        // The report of the peer's first address precedes the response.
        guard case .send(let response, source)? = effects.last else { throw BenchError("no response") }
        return response
    }

    /// Makes a session, which the first packet of the client confirms.
    mutating func connect(
        _ client: consuming TokenClient,
        at time: Duration,
        using random: inout SystemRandom
    ) throws {
        let initiation = try client.begin(at: time, using: &random)
        let response = try respond(to: initiation, client.number, at: time, using: &random)
        let packet = try client.finish(response, at: time, using: &random)
        let source = TokenClient.endpoint(client.number)
        let effects = interface.handle(.datagramReceived(packet, from: source), at: Self.moment(time), using: &random)
        let isConnected = effects.contains { effect in
            if case .report(.sessionEstablished) = effect { true } else { false }
        }
        guard isConnected else { throw BenchError("no session") }
    }

    /// The monotonic time as a moment; the wall clock goes at the same rate.
    fileprivate static func moment(_ time: Duration) -> Moment {
        Moment(monotonic: time, wall: time + .seconds(1_700_000_000))
    }
}

/// The initiator of one handshake.
struct TokenClient {
    let number: Int
    private var interface: WireGuardInterface

    fileprivate init(_ keys: TokenGateway.ClientKeys, gateway: X25519PublicKey) {
        number = keys.number
        interface = WireGuardInterface(.init(privateKey: keys.key))
        var change = WireGuardInterface.PeerChange()
        change.presharedKey = keys.preshared
        change.endpoint = SocketAddress(.v4(0xC633_6402), port: 51_820)
        change.allowedAddresses = [AddressPrefix(.v4(0), length: 0)].compactMap(\.self)
        var random = SystemRandom()
        _ = interface.handle(.configured(.peer(gateway, change)), at: TokenGateway.moment(.zero), using: &random)
    }

    /// The address of a client in the tunnel.
    static func address(_ number: Int) -> IPAddress { .v4(0x0A00_0000 | UInt32(number + 2)) }

    /// The address of a client outside the tunnel.
    static func endpoint(_ number: Int) -> SocketAddress {
        SocketAddress(.v4(0xCB00_0000 | UInt32(number)), port: 40_000)
    }

    /// Sends the first packet; returns the initiation that it causes.
    mutating func begin(at time: Duration, using random: inout SystemRandom) throws -> [UInt8] {
        let packet: [UInt8] = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0] + Self.address(number).bytes + [192, 0, 2, 1]
        return try sent(interface.handle(.packetSent(packet), at: TokenGateway.moment(time), using: &random))
    }

    /// Returns the initiation after one that had no response.
    mutating func repeatInitiation(at time: Duration, using random: inout SystemRandom) throws -> [UInt8] {
        try sent(interface.handle(.timeReached, at: TokenGateway.moment(time), using: &random))
    }

    /// Returns the first packet in the session of a response.
    mutating func finish(
        _ response: [UInt8],
        at time: Duration,
        using random: inout SystemRandom
    ) throws -> [UInt8] {
        let source = SocketAddress(.v4(0xC633_6402), port: 51_820)
        let input = WireGuardInterface.Input.datagramReceived(response, from: source)
        return try sent(interface.handle(input, at: TokenGateway.moment(time), using: &random))
    }

    private func sent(_ effects: [WireGuardInterface.Effect]) throws -> [UInt8] {
        for case .send(let datagram, _) in effects { return datagram }
        throw BenchError("a client sent nothing")
    }
}
