internal import Circle
internal import CircleStore
internal import Foundation
internal import Identity
internal import NodeStore
internal import OneTimeKeys
internal import Platform
internal import RunarNode
internal import SealedMessages
internal import TestSupport
internal import Testing
internal import Transport

extension RunarNode {
    /// The stored circle of the node's device.
    var circleStore: CircleStore { get throws { try CircleStore(stateStore) } }
}

/// A node with its keys and its circle; it can be stopped and started again.
final class CircleDevice {
    let name: String
    private let home: String
    private let storage = InMemoryKeyStorage()
    private let makeNode: (RunarNodeConfig) throws -> RunarNode
    private(set) var node: RunarNode
    private(set) var keys: KeyStoreManager
    private(set) var circle: CircleManager

    init(_ name: String, in home: String, _ makeNode: @escaping (RunarNodeConfig) throws -> RunarNode) throws {
        self.name = name
        self.home = home
        self.makeNode = makeNode
        node = try Self.node(name, home, storage, makeNode)
        keys = try KeyStoreManager(node: node, capacity: 64)
        circle = try CircleManager(node: node, keys: keys)
    }

    private static func node(
        _ name: String,
        _ home: String,
        _ storage: InMemoryKeyStorage,
        _ makeNode: (RunarNodeConfig) throws -> RunarNode
    ) throws -> RunarNode {
        let config = RunarNodeConfig.createTestConfig()
        config.keyStorage = storage
        config.statePath = FilePath.joining(home, "\(name).sqlite")
        config.logLevel = .error
        return try makeNode(config)
    }

    // MARK: Processes

    /// Ends the process as far as this device is concerned, and begins another one, with a new key of the device if
    /// `isRenewed`.
    func restart(isRenewed: Bool = false) async throws {
        await stop()
        if isRenewed { try await node.renewDevice() }
        node = try Self.node(name, home, storage, makeNode)
        keys = try KeyStoreManager(node: node, capacity: 64)
        circle = try CircleManager(node: node, keys: keys)
        try await node.start()
    }

    func stop() async {
        await circle.end()
        await keys.end()
        await node.stop()
    }

    var peerId: PeerId { node.peerId }

    /// The database with its log.
    func storedBytes() throws -> Data {
        try ["", "-wal"].reduce(into: Data()) { bytes, ending in
            let path = FilePath.joining(home, "\(name).sqlite\(ending)")
            if FileManager.default.fileExists(atPath: path) { bytes += try Data(contentsOf: URL(filePath: path)) }
        }
    }

    func connect(to other: CircleDevice, in network: NetworkId) async throws {
        let events = other.node.eventStream
        let address = other.node.listenAddresses.first { $0.isDialable }?.description
        let place = try #require(address ?? other.node.listenAddresses.first.map { "127.0.0.1:\($0.port)" })
        _ = try await node.connectToPeer(peerId: other.peerId, networkId: network, address: place)
        if other.node.connectedPeers().contains(peerId) { return }
        for await event in events where event == .peerJoined(peerId, network) { return }
    }

    // MARK: People

    /// The person of another device, once it is known.
    func person(of other: CircleDevice) -> Person? {
        circle.people.first { $0.card?.devices.contains(other.peerId) == true }
    }

    /// The id of the person of this device, which must have a profile.
    var personId: PublicID {
        get throws { try #require(circle.card?.publicID) }
    }

    /// Returns once a condition holds, which is looked at after each event.
    func wait(for condition: @escaping (CircleDevice) -> Bool) async {
        let events = circle.events
        if condition(self) { return }
        for await _ in events where condition(self) { return }
    }

    /// Makes trust with the person of another device, and waits for the keys of both.
    func makeTrust(with other: CircleDevice) async throws {
        try await circle.invite(other.peerId)
        await other.wait { $0.person(of: self)?.trust == .requested }
        try await other.circle.accept(#require(other.person(of: self)).id)
        await wait { $0.person(of: other)?.trust == .trusted }
        await waitForKeys(with: other)
    }

    /// Waits until both devices have keys of each other.
    func waitForKeys(with other: CircleDevice) async {
        for (one, two) in [(self, other), (other, self)] {
            let changes = one.keys.changes
            if one.keys.relationship(with: two.peerId)?.state == .completed { continue }
            for await change in changes where change.peer == two.peerId && change.state == .completed { break }
        }
    }

    // MARK: Thoughts

    /// The texts of the conversation with the person of another device, the oldest first.
    func texts(with other: CircleDevice) throws -> [String] {
        let friend = try #require(person(of: other))
        return try circle.thoughts(with: friend.id).reversed().compactMap(\.model.text)
    }

    /// The texts of a stream, the oldest first.
    func texts(in stream: PublicID) throws -> [String] {
        try circle.thoughts(in: stream).reversed().compactMap(\.model.text)
    }

    /// Sends a thought and waits until the other device has it.
    func say(_ text: String, to other: CircleDevice) async throws {
        let thought = try await circle.say(text, to: #require(person(of: other)).id)
        await wait { device in
            let all = try? device.circle.thoughts(with: #require(device.person(of: other)).id)  // nil: not yet
            return all?.first { $0.publicID == thought.publicID }?.state ?? .waiting >= .delivered
        }
    }
}

/// Runs members of one network, each of which is connected to each other, with profiles of these names.
///
/// `outgoingMailLimit` holds for members in memory.
func withCircles(
    _ names: String...,
    overSockets: Bool = false,
    outgoingMailLimit: Int? = nil,
    _ body: ([CircleDevice], NetworkId) async throws -> Void
) async throws {
    let home = try TemporaryDataDirectory()
    try SystemFileSystem().makeDirectory(home.path, mode: 0o700)
    let memory = InMemoryNetwork(seed: 5)
    let makeNode = { (config: RunarNodeConfig) in
        guard !overSockets else { return try RunarNode(config: config) }
        return try RunarNode(config: config, outgoingMailLimit: outgoingMailLimit) { key, _ in
            try memory.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
        }
    }
    let devices = try names.map { try CircleDevice($0, in: home.path, makeNode) }
    let owner = devices[0]
    let metadata = try owner.node.createNetwork(name: "Home")
    for device in devices { try await device.node.start() }
    for member in devices.dropFirst() {
        let token = try owner.node.issueToken(for: member.peerId, in: metadata.networkId, expiration: nil)
        try await member.node.joinNetwork(networkId: metadata.networkId, accessToken: token)
        try member.node.addNetwork(metadata)
    }
    let result: Result<Void, any Error>
    do {
        for (place, device) in devices.enumerated() {
            for other in devices[..<place] { try await device.connect(to: other, in: metadata.networkId) }
            try await device.circle.setProfile(name: device.name)
        }
        result = .success(try await body(devices, metadata.networkId))
    } catch {
        result = .failure(error)
    }
    for device in devices.reversed() { await device.stop() }
    try result.get()
}
