internal import Bytes
package import Identity

/// The answer to `POST /redeem`: the configuration of the client's end of the tunnel.
package struct RedemptionReport: Hashable, Sendable {
    /// The most bytes of the JSON that are read.
    package static let byteLimit = 16_384
    /// The most elements of each list.
    package static let listLimit = 8
    /// The sizes of packets that a client accepts; 1,280 is the least of IPv6.
    package static let mtus: ClosedRange<UInt16> = 1_280...9_000

    /// The UDP addresses of the gateway, in order of preference.
    package let endpoints: [SocketAddress]
    /// The X25519 key of the gateway's end of the tunnel.
    package let peerPublicKey: Bytes32
    /// The client's addresses in the tunnel: one of IPv4, one of IPv6.
    package let addresses: [IPAddress]
    /// The resolvers that the client uses through the tunnel.
    package let resolvers: [IPAddress]
    /// The encapsulation of the preshared key.
    package let encapsulatedKey: EncapsulatedKey
    /// The first second since 1970 in which the lease has ended.
    package let leaseEnds: UInt64
    package let keepaliveSeconds: UInt16
    package let mtu: UInt16

    /// Checks the fields.
    ///
    /// - Throws: ``ExitModelError``.
    package init(
        endpoints: [SocketAddress],
        peerPublicKey: Bytes32,
        addresses: [IPAddress],
        resolvers: [IPAddress],
        encapsulatedKey: EncapsulatedKey,
        leaseEnds: UInt64,
        keepaliveSeconds: UInt16,
        mtu: UInt16
    ) throws(ExitModelError) {
        for (name, count) in [
            ("endpoints", endpoints.count), ("addresses", addresses.count), ("resolvers", resolvers.count),
        ] where !(1...Self.listLimit ~= count) {
            throw .tooLong(of: name, limit: Self.listLimit, found: count)
        }
        guard endpoints.allSatisfy({ $0.ip.isUnicast && $0.port != 0 }) else {
            throw .malformed(of: "endpoints", reason: "one of them is not the address of a machine with a port")
        }
        guard addresses.allSatisfy(\.isUnicast), resolvers.allSatisfy(\.isUnicast) else {
            throw .malformed(of: "addresses", reason: "one of them is not the address of a machine")
        }
        guard leaseEnds <= UnixTime.maximum, Self.mtus.contains(mtu) else {
            throw .malformed(of: "the answer of the gateway", reason: "a number in it is out of its range")
        }
        self.endpoints = endpoints
        self.peerPublicKey = peerPublicKey
        self.addresses = addresses
        self.resolvers = resolvers
        self.encapsulatedKey = encapsulatedKey
        self.leaseEnds = leaseEnds
        self.keepaliveSeconds = keepaliveSeconds
        self.mtu = mtu
    }

    /// Reads ``json``.
    ///
    /// - Throws: ``ExitModelError``.
    package init(json: [UInt8]) throws(ExitModelError) {
        self = try ExitJSON.decode(from: json, limit: Self.byteLimit, of: "the answer of the gateway")
    }

    /// The report as it travels.
    package var json: [UInt8] { ExitJSON.bytes(self) }
}

extension RedemptionReport: Codable {
    private enum CodingKeys: String, CodingKey {
        case endpoints
        case peerPublicKey
        case addresses
        case resolvers
        case encapsulatedKey
        case leaseEnds
        case keepaliveSeconds
        case mtu
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            endpoints: container.parsedList(.endpoints, limit: Self.listLimit),
            peerPublicKey: container.bytes32(.peerPublicKey),
            addresses: container.parsedList(.addresses, limit: Self.listLimit),
            resolvers: container.parsedList(.resolvers, limit: Self.listLimit),
            encapsulatedKey: EncapsulatedKey(container.bytes(.encapsulatedKey, count: EncapsulatedKey.byteCount)),
            leaseEnds: container.decode(UInt64.self, forKey: .leaseEnds),
            keepaliveSeconds: container.decode(UInt16.self, forKey: .keepaliveSeconds),
            mtu: container.decode(UInt16.self, forKey: .mtu)
        )
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(endpoints.map(\.description), forKey: .endpoints)
        try container.encode(Base64URL.encode(peerPublicKey.bytes), forKey: .peerPublicKey)
        try container.encode(addresses.map(\.description), forKey: .addresses)
        try container.encode(resolvers.map(\.description), forKey: .resolvers)
        try container.encode(Base64URL.encode(encapsulatedKey.bytes), forKey: .encapsulatedKey)
        try container.encode(leaseEnds, forKey: .leaseEnds)
        try container.encode(keepaliveSeconds, forKey: .keepaliveSeconds)
        try container.encode(mtu, forKey: .mtu)
    }
}
