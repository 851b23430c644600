internal import Bytes
internal import Identity
internal import TestSupport
internal import Traversal

/// A NAT as RFC 4787 describes it, with one device behind it and a STUN server in front of it; nothing is lost or slow.
struct ModelNAT {
    enum Dependence: CaseIterable {
        case endpointIndependent
        case addressDependent
        case addressAndPortDependent
    }

    /// Nil: no translation.
    let mapping: Dependence?
    let filtering: Dependence
    var server: STUNServer
    /// Whether the server's second address answers.
    var isSecondAlive = true
    let own = SocketAddress(.v4(0x0A00_0002), port: 5_000)
    private(set) var now = Duration.zero
    private var ports: [String: UInt16] = [:]
    private var sentTo: [SocketAddress] = []

    init(mapping: Dependence?, filtering: Dependence, server: STUNServer) {
        self.mapping = mapping
        self.filtering = filtering
        self.server = server
    }

    private static func key(_ place: SocketAddress, _ dependence: Dependence) -> String {
        switch dependence {
        case .endpointIndependent: ""
        case .addressDependent: "\(place.ip)"
        case .addressAndPortDependent: "\(place)"
        }
    }

    /// Returns the source address that the world sees on a datagram to `place`.
    private mutating func translated(to place: SocketAddress) -> SocketAddress {
        guard let mapping = self.mapping else { return self.own }
        let key = Self.key(place, mapping)
        let port = self.ports[key] ?? UInt16(30_000 + self.ports.count * 7)
        self.ports[key] = port
        return SocketAddress(.v4(0xCB00_7109), port: port)
    }

    private func letsIn(_ source: SocketAddress) -> Bool {
        self.sentTo.contains { Self.key($0, self.filtering) == Self.key(source, self.filtering) }
    }

    /// Runs a discovery to its end; nil when it wants nothing more and has not ended.
    mutating func run(_ discovery: inout NATDiscovery) -> NATDiscovery.Effect? {
        var inputs: [NATDiscovery.Input] = [.started]
        for _ in 0..<200 {
            var effects: [NATDiscovery.Effect] = []
            for input in inputs { discovery.handle(input, at: self.now, into: &effects) }
            inputs = []
            var wake: Duration?
            for effect in effects {
                switch effect {
                case .send(let bytes, let place): inputs += self.carry(bytes, to: place)
                case .wake(let at): wake = at
                case .finish, .fail: return effect
                }
            }
            guard inputs.isEmpty else { continue }
            guard let wake else { return nil }
            self.now = wake
            inputs = [.timeReached]
        }
        return nil
    }

    private mutating func carry(_ bytes: [UInt8], to place: SocketAddress) -> [NATDiscovery.Input] {
        let source = self.translated(to: place)
        self.sentTo.append(place)
        func isThere(_ place: SocketAddress) -> Bool { self.isSecondAlive || place.ip == self.server.primary.ip }
        guard self.server.places.contains(place), isThere(place),
            let reply = self.server.reply(to: bytes, from: source, at: place, now: self.now),
            isThere(reply.from), reply.to == source, self.letsIn(reply.from)
        else { return [] }
        return [.datagramReceived(reply.bytes, from: reply.from)]
    }
}
