internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode
internal import SealedMessages
internal import Transport

@testable internal import Circle
@testable internal import QUIC

/// The network below the nodes of a scene.
enum Carrier: Sendable {
    case memory(InMemoryNetwork)
    /// QUIC on this machine, whose datagrams are recorded.
    case sockets(DatagramRecorder)

    fileprivate func makeEndpoint(_ key: Ed25519PrivateKey, _ settings: NodeSettings) throws -> any Endpoint {
        switch self {
        case .memory(let network): return try network.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
        case .sockets(let recorder):
            var configuration = QUICConfiguration(identity: key, addresses: settings.listenAddresses)
            configuration.limits.unadmitted = UnadmittedLimits()
            configuration.seams.tap = { target, datagram in recorder.append(datagram, to: target) }
            return try QUICEndpoint.bind(configuration)
        }
    }
}

/// A node with its home, its keys and its circle, and a recorder of all that it reads from its connections.
///
/// The vault opens with a key file that lies outside of the home.
final class ObservedDevice: Sendable {
    let home: String
    let node: RunarNode
    let keys: KeyStoreManager
    let circle: CircleManager
    let recorder: Recorder

    init(_ name: String, in directory: String, over carrier: Carrier) throws {
        let recorder = Recorder()
        let config = RunarNodeConfig.createTestConfig()
        config.keychainConfig = nil
        config.keyStorage = nil
        config.homePath = FilePath.joining(directory, name)
        config.homeSecret = .keyFile(path: FilePath.joining(directory, "\(name).key"))
        config.logLevel = .error
        home = FilePath.joining(directory, name)
        self.recorder = recorder
        node = try RunarNode(config: config) { key, settings in
            RecordingEndpoint(try carrier.makeEndpoint(key, settings), recorder)
        }
        keys = try KeyStoreManager(node: node, capacity: 64)
        circle = try CircleManager(node: node, keys: keys)
    }

    func stop() async {
        await circle.end()
        await keys.end()
        await node.stop()
    }

    var peerId: PeerId { node.peerId }

    /// The names and bytes of all files of the home.
    func storedBytes() throws -> [UInt8] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: home).sorted()
        return names.reduce(into: [UInt8]()) { bytes, name in
            bytes += Array(name.utf8)
            // Nil for a directory.
            bytes += FileManager.default.contents(atPath: FilePath.joining(home, name)) ?? Data()
        }
    }

    /// The person of another device, once it is known.
    func person(of other: ObservedDevice) -> Person? {
        circle.people.first { $0.card?.devices.contains(other.peerId) == true }
    }

    /// The thoughts of the conversation with the person of another device, the oldest first.
    func thoughts(with other: ObservedDevice) throws -> [Thought] {
        guard let person = person(of: other) else { return [] }
        return try circle.thoughts(with: person.id).reversed()
    }

    /// Waits until a condition holds, which each event of the circle can change.
    func wait(for condition: (ObservedDevice) throws -> Bool) async throws {
        var events = circle.events.makeAsyncIterator()
        repeat {
            if try condition(self) { return }
        } while await events.next() != nil
    }
}
