internal import CommandModel
internal import Concurrency
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode
internal import Traversal

/// Answers the STUN requests of others on sockets of its own.
final class StunService: Sendable {
    /// The counts since the start.
    struct Count: Sendable {
        var answered = 0
        var ignored = 0
        var bytesIn = 0
        var bytesOut = 0
    }

    /// All of this device's addresses, if none is named.
    private static let defaults = ["0.0.0.0:\(STUNPlace.port)", "[::]:\(STUNPlace.port)"]

    private let sockets: DatagramSockets
    private let servers: Locked<[STUNServer]>
    /// Which server each socket belongs to.
    private let owners: [Int]
    private let count = Locked(Count())

    init(places texts: [String]) throws {
        let isChosen = !texts.isEmpty
        let places = try (isChosen ? texts : Self.defaults).map { try Setting.address($0) }
        var servers: [STUNServer] = []
        for isIPv6 in [false, true] {
            servers += try Self.servers(at: places.filter { $0.isIPv6 == isIPv6 })
        }
        owners = servers.enumerated().flatMap { server in server.element.places.map { _ in server.offset } }
        sockets = try DatagramSockets(at: servers.flatMap(\.places))
        // A port that was left to the system is known only now.
        let addresses = sockets.addresses
        for (socket, owner) in owners.enumerated() where servers[owner].other == nil {
            servers[owner] = try STUNServer(primary: addresses[socket])
        }
        self.servers = Locked(servers)
    }

    /// The servers of one family: one for two addresses, else one for each.
    private static func servers(at places: [SocketAddress]) throws -> [STUNServer] {
        guard places.count <= 2 else {
            throw CommandFailure(
                "usage",
                .usage,
                "at most two --listen addresses of a family: the second one is for RFC 5780"
            )
        }
        if places.count == 2 {
            do throws(STUNServer.Misplacement) {
                return [try STUNServer(primary: withPort(places[0]), other: withPort(places[1]))]
            } catch {
                throw CommandFailure("usage", .usage, error.advice)
            }
        }
        return try places.flatMap(Self.expanded).map { try STUNServer(primary: $0) }
    }

    /// The addresses of the interfaces for an unspecified address.
    ///
    /// Each gets a socket of its own, so that an answer is sent from the address that received its request.
    private static func expanded(_ place: SocketAddress) -> [SocketAddress] {
        guard place.isUnspecified else { return [place] }
        return (NetworkInterface.all() ?? []).filter(\.isUp).flatMap(\.addresses)
            .filter { $0.isIPv6 == place.isIPv6 && !($0.isIPv6 && $0.isLinkLocal) }
            .map { SocketAddress($0.withoutScope, port: place.port) }
    }

    /// Returns the place with a free port instead of 0.
    ///
    /// Two addresses share their ports, so the ports must be known before the sockets are bound.
    private static func withPort(_ place: SocketAddress) -> SocketAddress {
        guard place.port == 0, let port = try? DatagramSockets.freePort(at: place.ip)  // binding fails then
        else {
            return place
        }
        return SocketAddress(place.ip, port: port)
    }

    /// The addresses at which it answers.
    var addresses: [SocketAddress] { sockets.addresses }

    /// Whether others can find out the kind of their NAT here.
    var canClassify: Bool { servers.withLock { $0.contains { $0.other != nil } } }

    var counts: Count { count.withLock { $0 } }

    /// Answers until it is closed.
    func run() async {
        let start = ContinuousClock.now
        for await datagram in sockets.datagrams {
            let reply = servers.withLock {
                $0[owners[datagram.socket]].reply(
                    to: datagram.bytes,
                    from: datagram.source,
                    at: sockets.addresses[datagram.socket],
                    now: start.duration(to: .now)
                )
            }
            count.withLock { count in
                count.bytesIn += datagram.bytes.count
                count.bytesOut += reply?.bytes.count ?? 0
                if reply == nil { count.ignored += 1 } else { count.answered += 1 }
            }
            guard let reply, let socket = sockets.addresses.firstIndex(of: reply.from) else { continue }
            try? sockets.send(reply.bytes, to: reply.to, from: socket)  // best effort: clients retransmit
        }
    }

    func close() { sockets.close() }
}

extension STUNServer.Misplacement {
    /// The advice on an alternative.
    fileprivate var advice: String {
        switch self {
        case .sameAddress: "the two --listen addresses must be different addresses of this device"
        case .samePort: "the two --listen addresses need different ports, as in 192.0.2.1:3478 and 192.0.2.2:3479"
        case .differentFamilies: "the two --listen addresses must be of one family"
        case .unspecified: "with two --listen addresses each must be one address of this device, not all of them"
        }
    }
}

/// The report that a STUN server has begun or ended.
struct StunServiceReport: Codable {
    let event: String
    let addresses: [String]
    /// Whether others can find out the kind of their NAT here.
    let canClassify: Bool
    let answered: Int
    let ignored: Int
    let bytesIn: Int
    let bytesOut: Int

    init(event: String, _ service: StunService) {
        let counts = service.counts
        self.event = event
        addresses = service.addresses.map(\.description)
        canClassify = service.canClassify
        (answered, ignored) = (counts.answered, counts.ignored)
        (bytesIn, bytesOut) = (counts.bytesIn, counts.bytesOut)
    }

    var line: String {
        guard event == "ended" else {
            let kinds = canClassify ? "; others can find out the kind of their NAT" : ""
            return "answers STUN requests on \(addresses.joined(separator: ", "))\(kinds)"
        }
        return "\(answered) requests answered, \(ignored) datagrams ignored"
    }
}
