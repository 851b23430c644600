package import Identity

/// A STUN server, which reports to a client the source of its request.
///
/// Its only state about clients is the rate of their recent answers. Since the source of a datagram can be forged, an answer
/// could reach a host that sent no request. Therefore no answer is longer than ``replyFactor`` times its request, none goes
/// to an address or port other than the request's source, and answers are limited for each source and in total.
package struct STUNServer: Sendable {
    /// The bounds of the answers.
    package struct Limits: Sendable {
        /// For one IPv4 address or one /64 of IPv6; determining the kind of a NAT takes about ten.
        package var perSource: RateLimit
        /// For all sources together.
        package var total: RateLimit
        /// The most sources that are remembered; a source that sends a request after this many others starts with a full
        /// bucket.
        package var sourceLimit: Int

        package init(
            perSource: RateLimit = RateLimit(perSecond: 20, atOnce: 60),
            total: RateLimit = RateLimit(perSecond: 5_000, atOnce: 10_000),
            sourceLimit: Int = 8_192
        ) {
            self.perSource = perSource
            self.total = total
            self.sourceLimit = sourceLimit
        }
    }

    /// Why a server cannot have these two addresses.
    package enum Misplacement: Error, Hashable, Sendable {
        /// Both are the same machine's same address.
        case sameAddress
        /// Both have the same port.
        case samePort
        /// One is IPv4 and the other IPv6.
        case differentFamilies
        /// One is the unspecified address, so that no client can be referred to it.
        case unspecified
    }

    /// An answer.
    package struct Reply: Hashable, Sendable {
        package let bytes: [UInt8]
        /// Which of ``places`` sends it.
        package let from: SocketAddress
        package let to: SocketAddress
    }

    /// The largest ratio of the lengths of an answer and its request.
    package static let replyFactor = 3
    /// The unknown attributes that are named in a refusal.
    private static let namedUnknownLimit = 8

    /// The address to which requests are sent.
    package let primary: SocketAddress
    /// Its second address and port, with which the filters of a NAT can be found out (RFC 5780).
    package let other: SocketAddress?
    private let limits: Limits
    private var total = TokenBucket()
    /// The token buckets of recent sources, in two generations, so that forgetting costs nothing.
    private var sources: [IPAddress: TokenBucket] = [:]
    private var olderSources: [IPAddress: TokenBucket] = [:]

    /// A server at one place, or at the four that two addresses and two ports make.
    package init(
        primary: SocketAddress,
        other: SocketAddress? = nil,
        limits: Limits = Limits()
    ) throws(Misplacement) {
        if let other {
            guard primary.isIPv6 == other.isIPv6 else { throw .differentFamilies }
            guard !primary.isUnspecified, !other.isUnspecified else { throw .unspecified }
            guard primary.ip != other.ip else { throw .sameAddress }
            guard primary.port != other.port else { throw .samePort }
        }
        self.primary = primary
        self.other = other
        self.limits = limits
    }

    /// The addresses at which it must receive datagrams, one or four.
    package var places: [SocketAddress] {
        guard let other else { return [primary] }
        return [
            primary, SocketAddress(primary.ip, port: other.port),
            SocketAddress(other.ip, port: primary.port), other,
        ]
    }

    /// The number of sources that are remembered.
    package var rememberedSources: Int { sources.count + olderSources.count }

    /// The answer to a datagram that arrived at one of ``places``; nil if there is none.
    package mutating func reply(
        to bytes: [UInt8],
        from source: SocketAddress,
        at place: SocketAddress,
        now: Duration
    ) -> Reply? {
        guard source.isDialable,
            let packet = try? STUNPacket(bytes),  // nil: malformed messages get no answer
            packet.message.kind == .request, packet.message.method == STUNMessage.binding,
            allows(source, now)
        else { return nil }
        let request = packet.message
        let limit = bytes.count * Self.replyFactor
        var unknown = request.unknownAttributes
        if other == nil, !request.change.isEmpty { unknown.append(STUNAttributeType.changeRequest) }
        guard unknown.isEmpty else {
            let attributes: [STUNAttribute] = [
                .errorCode(.unknownAttribute), .unknownAttributes(Array(unknown.prefix(Self.namedUnknownLimit))),
            ]
            let refusal = Self.encode(.failure, attributes, to: packet, limit: limit)
            return refusal.map { Reply(bytes: $0, from: place, to: source) }
        }
        let origin = self.place(place, changed: request.change)
        var attributes: [STUNAttribute] = [.xorMappedAddress(source.unmapped)]
        if other != nil { attributes.append(.otherAddress(self.place(place, changed: [.address, .port]))) }
        attributes += [.responseOrigin(origin), .software("Runar")]
        let answer = Self.encode(.success, attributes, to: packet, limit: limit)
        return answer.map { Reply(bytes: $0, from: origin, to: source) }
    }

    /// The place with the other address or the other port, as seen from `place`.
    private func place(_ place: SocketAddress, changed change: STUNChange) -> SocketAddress {
        guard let other else { return place }
        let ip = change.contains(.address) == (place.ip == primary.ip) ? other.ip : primary.ip
        let port = change.contains(.port) == (place.port == primary.port) ? other.port : primary.port
        return SocketAddress(ip, port: port)
    }

    /// The most attributes, in order, that make no answer longer than `limit`; nil if not even the first does.
    private static func encode(
        _ kind: STUNMessage.Class,
        _ attributes: [STUNAttribute],
        to request: STUNPacket,
        limit: Int
    ) -> [UInt8]? {
        for count in stride(from: attributes.count, through: 1, by: -1) {
            let message = STUNMessage(
                kind,
                transaction: request.message.transaction,
                attributes: Array(attributes.prefix(count))
            )
            let bytes = STUNPacket.encode(message, hasFingerprint: request.hasFingerprint)
            if bytes.count <= limit { return bytes }
        }
        return nil
    }

    private mutating func allows(_ source: SocketAddress, _ now: Duration) -> Bool {
        guard total.hasRoom(under: limits.total, at: now) else { return false }
        let key = Self.key(of: source.ip.unmapped)
        var bucket = sources[key] ?? olderSources[key] ?? TokenBucket()
        let isAllowed = bucket.take(under: limits.perSource, at: now)
        if sources[key] == nil, sources.count >= limits.sourceLimit / 2 {
            olderSources = sources
            sources = [:]
        }
        sources[key] = bucket
        if isAllowed { total.charge(under: limits.total, at: now) }
        return isAllowed
    }

    /// Returns the key that identifies a source: the /64 of an IPv6 address, because its owner has all addresses in it.
    private static func key(of ip: IPAddress) -> IPAddress {
        AddressSource(ip).host
    }
}
