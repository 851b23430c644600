internal import Bytes
internal import Foundation
internal import Identity
internal import OneTimeKeys
internal import Platform
internal import RunarNode
internal import SealedMessages
internal import Transport

/// Seals messages and opens them without end, and prints a line after each step, until a test kills it.
///
/// `SealedWriter <folder> <first>` numbers the messages from `first` on. It has a sender and a recipient with a directory
/// each, and exchanges keys when few are left. The lines are `sealed N NAME` and `opened NAME`; first it tries the
/// last message of an earlier run again, and prints `again NAME` or `refused`.
@main struct SealedWriter {
    private static let capacity = 1_024
    private static let fewKeys = 64

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let first = UInt64(arguments[2]) else { exit(64) }
        let folder = arguments[1]
        let network = InMemoryNetwork(seed: 1)
        let (sender, recipient) = (try node(1, folder, network), try node(2, folder, network))
        let sending = try KeyStoreManager(node: sender, capacity: capacity)
        let receiving = try KeyStoreManager(node: recipient, capacity: capacity)
        let last = FilePath.joining(folder, "last")
        if let bytes = try AtomicFile.read(last, limit: 1 << 16) {
            try print(await again(bytes, from: sender.peerId, receiving))
        }
        var number = first
        while true {
            if sending.relationship(with: recipient.peerId)?.sendingKeyCount ?? 0 < fewKeys {
                try await exchange(sender, recipient, sending)
            }
            let message = try await sending.seal(Array("\(number)".utf8), to: recipient.peerId)
            try Data(message.bytes).write(to: URL(filePath: last))
            try print("sealed \(number) \(message.keyName)")
            _ = try await receiving.open(message, from: sender.peerId)
            try print("opened \(message.keyName)")
            number += 1
        }
    }

    /// Opens the last message of an earlier run again, and returns a line with the outcome.
    private static func again(_ bytes: [UInt8], from sender: PeerId, _ keys: KeyStoreManager) async -> String {
        do {
            let message = try SealedMessage(bytes)
            _ = try await keys.open(message, from: sender)
            return "again \(message.keyName)"
        } catch {
            // It was half-written, or opened before.
            return "refused"
        }
    }

    private static func print(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// A node with a fixed key, whose database is in a directory of its own.
    private static func node(_ number: UInt8, _ folder: String, _ network: InMemoryNetwork) throws -> RunarNode {
        let home = FilePath.joining(folder, "\(number)")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let keys = InMemoryKeyStorage()
        try keys.store(SecretBytes(copying: [UInt8](repeating: number, count: 32)), id: KeyId.peer.rawValue)
        let config = RunarNodeConfig.createTestConfig()
        config.keyStorage = keys
        config.statePath = FilePath.joining(home, "state.sqlite")
        config.logLevel = .error
        return try RunarNode(config: config) { key, _ in
            try network.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
        }
    }

    private static func exchange(_ sender: RunarNode, _ recipient: RunarNode, _ keys: KeyStoreManager) async throws {
        for node in [sender, recipient] { try await node.start() }
        let networkId: NetworkId
        if let known = try sender.networks().first {
            networkId = known.networkId
        } else {
            networkId = try sender.createNetwork(name: "Home").networkId
            let token = try sender.issueToken(for: recipient.peerId, in: networkId, expiration: nil)
            try await recipient.joinNetwork(networkId: networkId, accessToken: token)
        }
        let address = sender.listenAddresses.first?.description ?? ""
        _ = try await recipient.connectToPeer(peerId: sender.peerId, networkId: networkId, address: address)
        try await keys.exchangeKeys(with: recipient.peerId)
        for node in [recipient, sender] { await node.stop() }
    }
}
