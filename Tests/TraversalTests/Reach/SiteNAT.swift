internal import Bytes
internal import Identity

/// A NAT, or a firewall without translation, as RFC 4787 describes them.
struct SiteNAT {
    enum Kind: String, CaseIterable, Sendable {
        case fullCone
        case addressRestricted
        case portRestricted
        case symmetric

        static let all = Self.allCases
    }

    private struct Mapping {
        let inside: SocketAddress
        let outside: UInt16
        /// The one destination of a symmetric NAT's mapping.
        let destination: SocketAddress?
        var sentTo: Set<SocketAddress> = []
        var used: Duration
    }

    let kind: Kind
    let address: IPAddress
    /// The lifetime of a mapping without a datagram from the inside.
    var expiry = Duration.seconds(120)
    /// Whether it blocks all UDP.
    var isBlocking = false
    private var mappings: [UInt16: Mapping] = [:]
    private var ports: [String: UInt16] = [:]
    private var random: SeededGenerator

    init(_ kind: Kind, at address: IPAddress, seed: UInt64) {
        self.kind = kind
        self.address = address
        self.random = SeededGenerator(seed: seed, name: "nat \(address)")
    }

    /// Returns the source address that the outside sees on a datagram from the inside, or nil if UDP is blocked.
    mutating func outbound(
        from inside: SocketAddress,
        to destination: SocketAddress,
        at now: Duration
    ) -> SocketAddress? {
        guard !self.isBlocking else { return nil }
        let key = self.kind == .symmetric ? "\(inside) \(destination)" : "\(inside)"
        var port = self.ports[key]
        if let known = port, let mapping = self.mappings[known], now - mapping.used > self.expiry {
            self.mappings[known] = nil
            port = nil
        }
        let outside = port ?? self.freePort(for: inside)
        var mapping =
            self.mappings[outside]
            ?? Mapping(inside: inside, outside: outside, destination: destination, used: now)
        mapping.sentTo.insert(destination)
        mapping.used = now
        self.mappings[outside] = mapping
        self.ports[key] = outside
        return SocketAddress(self.address, port: outside)
    }

    /// Returns the inside destination of a datagram from the outside, if any.
    func inbound(to port: UInt16, from source: SocketAddress, at now: Duration) -> SocketAddress? {
        guard !self.isBlocking, let mapping = self.mappings[port], now - mapping.used <= self.expiry else { return nil }
        let passes =
            switch self.kind {
            case .fullCone: true
            case .addressRestricted: mapping.sentTo.contains { $0.ip == source.ip }
            case .portRestricted, .symmetric: mapping.sentTo.contains(source)
            }
        return passes ? mapping.inside : nil
    }

    var count: Int { self.mappings.count }

    /// Forgets every mapping, as after a restart; the next ones get other ports.
    mutating func forget() {
        self.mappings = [:]
        self.ports = [:]
    }

    private mutating func freePort(for inside: SocketAddress) -> UInt16 {
        if self.kind != .symmetric, self.mappings[inside.port] == nil { return inside.port }
        while true {
            let port = UInt16.random(in: 1024 ... .max, using: &self.random)
            if self.mappings[port] == nil { return port }
        }
    }
}
