#if os(Linux)
internal import TestSupport

@testable internal import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// Two members at sites of their own that have no address of each other, and two public members that are connected with all:
/// from one alone a device could not learn that its router takes another port for each destination.
struct Encounter {
    private static let port = 4_433

    let lab: NatLab
    /// At site 2.
    let first: Device
    /// At site 3.
    let second: Device
    /// At sites 1 and 4.
    private let helpers: [Device]

    /// Both sites have lines with ten milliseconds in each direction unless they specify their own.
    init(
        _ firstSite: NatLab.Site,
        _ secondSite: NatLab.Site,
        mappingSeconds: Int? = nil,
        mtu: Int = 1_500
    ) async throws {
        let sites = [firstSite, secondSite].map { site in
            var site = site
            site.line = site.line ?? NatLab.Line(delay: .milliseconds(10))
            return site
        }
        lab = try await NatLab.with([.init(.none)] + sites + [.init(.none)], mappingSeconds: mappingSeconds, mtu: mtu)
        // Several of these running concurrently leave each little of the machine.
        let settings = ["RUNAR_DISCOVERY": "off", "RUNAR_REQUEST_TIMEOUT": "60s", "RUNAR_DHT_TIMEOUT": "60s"]
        let place = settings.merging(["RUNAR_LISTEN": "0.0.0.0:\(Self.port)"]) { $1 }
        helpers = [
            try await Device("helper", wrapper: lab.wrapper(on: .site(1)), settings: place),
            try await Device("other helper", wrapper: lab.wrapper(on: .site(4)), settings: place),
        ]
        first = try await Device("first", wrapper: lab.wrapper(on: .site(2)), settings: settings)
        second = try await Device("second", wrapper: lab.wrapper(on: .site(3)), settings: settings)
        try await Device.makeFamily(of: helpers + [first, second])
        for device in helpers + [first, second] { try await device.start() }
        for (helper, site) in zip(helpers, [1, 4]) {
            let address = "\(NatLab.publicAddress(of: site)):\(Self.port)"
            for device in [first, second] { _ = try await device.connect(to: helper, at: address) }
        }
    }

    /// Connects the first device with the second one, and waits until they are connected directly.
    ///
    /// Returns how long either took from the beginning; nil if it did not happen within `patience`.
    func connect(within patience: Duration) async throws -> (connected: Duration?, direct: Duration?) {
        let watch = try await first.watch()
        let started = ContinuousClock.now
        guard let report = try? await first.connect(to: second) else { return (nil, nil) }  // it may be impossible
        let connected = ContinuousClock.now - started
        guard report.relayed else { return (connected, connected) }
        let left = patience - connected
        let direct = try await watch.path(to: second.peerId, isRelayed: false, since: started, within: left)
        return (connected, direct.map { $0 - started })
    }
}

extension Device {
    /// Asks the running node, as a command does.
    func ask<Answer>(_ request: APIRequest<Answer>) async throws -> Answer {
        guard let client = NodeClient(home: home.path) else {
            throw Outcome.Unexpected(description: "\(name): no node runs")
        }
        return try await client.perform(request)
    }

    func connect(to other: Device, at address: String? = nil) async throws -> ConnectReport {
        let form = ConnectForm(network: "Family", address: address, relay: false)
        return try await ask(Operations.connect(PeerName(other.peerId), form))
    }

    /// Whether packets to a peer are relayed, or nil if it is not connected.
    func isRelayed(_ other: Device) async throws -> Bool? { try await report(of: other)?.relayed }

    /// Returns the path of packets to a peer, in words.
    func path(to other: Device) async throws -> String {
        guard let report = try await report(of: other) else { return "not connected" }
        return report.relayed == true ? "relayed" : report.address ?? "?"
    }

    private func report(of other: Device) async throws -> PeersReport.Peer? {
        let connected = Operations.peers(Joined(PeersQuery(all: false), PageQuery.whole)).reading(PeersReport.self)
        return try await ask(connected).peers.first { $0.peerId == other.peerId }
    }

    func watch() async throws -> Watch { try await Watch(home: home.path) }
}
#endif
