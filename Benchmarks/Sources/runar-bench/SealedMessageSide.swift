internal import Foundation
internal import RunarNode
internal import SealedMessages

/// Messages between two connected devices in one process: sealed, with pools on the disk and in memory, and unsealed.
enum SealedMessageSide {
    private static let message = [UInt8](repeating: 7, count: 1024)
    private static let warmUps = 50

    /// Prints the median latency of `count` messages of each kind, in microseconds.
    static func measure(count: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runar-bench-\(UUID().uuidString)")
        let disk = try await middles(count, in: folder)
        let memory = try await middles(count, in: nil)
        try FileManager.default.removeItem(at: folder)
        Output.result(["plain": disk.plain, "sealed": disk.sealed, "sealedInMemory": memory.sealed])
    }

    private static func middles(_ count: Int, in folder: URL?) async throws -> (plain: Double, sealed: Double) {
        let network = deriveNetworkKey(masterKey: generateMasterKey(), networkIndex: 0)
        let ticket = Ticket(peerId: PeerId(publicKey: network.publicKey), network: network)
        let sender = try await ticket.member(state: folder?.appending(path: "sender"))
        let recipient = try await ticket.member(state: folder?.appending(path: "recipient"))
        let (own, other) = (try KeyStoreManager(node: sender), try KeyStoreManager(node: recipient))
        try await sender.connectToPeer(
            peerId: recipient.peerId,
            networkId: ticket.networkId,
            address: "127.0.0.1:\(recipient.listeningPort)"
        )
        let (plain, sealed) = (recipient.startListening(), other.startListening())
        let listeners = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { for await _ in plain {} }
                group.addTask { for await _ in sealed {} }
            }
        }
        try await own.exchangeKeys(with: recipient.peerId)
        let middles = (
            plain: try await middle(count) { try await sender.sendToPeer(message, peerId: recipient.peerId) },
            sealed: try await middle(count) { try await own.send(message, to: recipient.peerId) }
        )
        listeners.cancel()
        for node in [sender, recipient] { await node.stop() }
        return middles
    }

    private static func middle(_ count: Int, _ body: () async throws -> Void) async throws -> Double {
        var latencies: [Duration] = []
        for _ in 0..<warmUps { try await body() }
        for _ in 0..<count {
            let started = ContinuousClock.now
            try await body()
            latencies.append(ContinuousClock.now - started)
        }
        return latencies.percentile(0.5).microseconds
    }
}
