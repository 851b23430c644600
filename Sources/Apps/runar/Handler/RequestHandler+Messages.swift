internal import Foundation
internal import Identity
internal import Locking
internal import Node
internal import RunarNode

// Peers, messages and files.
extension RequestHandler {
    func peers() throws -> PeersReport {
        let networks = try networkReports()
        let peers = try node.connectedPeers().map { peer in
            let shared = try networks.filter {
                node.connectedPeers(in: try NetworkId(base64Encoded: $0.networkId)).contains(peer)
            }
            return PeersReport.Peer(
                peerId: peer.base64Encoded,
                peerIdText: peer.text,
                networks: shared.map(\.networkId),
                networkNames: shared.map { $0.name ?? String($0.networkIdText.prefix(8)) }
            )
        }
        return PeersReport(isRunning: node.isRunning, peers: peers)
    }

    /// The peer that a person means.
    ///
    /// - Throws: ``CommandFailure`` when it is no id and no connected peer's beginning.
    func resolve(_ name: PeerName) throws -> PeerId {
        let text = name.text.trimmingCharacters(in: .whitespacesAndNewlines)
        if let peer = PeerId(text) { return peer }
        let matches = node.connectedPeers().filter { $0.text.hasPrefix(text.lowercased()) }
        guard text.count >= 4, let peer = matches.first else {
            throw CommandFailure(
                "no-such-peer",
                .data,
                "\"\(text)\" is no peer id and not the beginning of a connected peer's: `runar peers` lists them"
            )
        }
        guard matches.count == 1 else {
            throw CommandFailure(
                "ambiguous-peer",
                .data,
                "\"\(text)\" is the beginning of several peer ids: type more of it"
            )
        }
        return peer
    }

    func connect(_ peer: PeerName, _ network: NetworkName, _ address: String) async throws -> ConnectReport {
        let peer = try resolve(peer)
        let network = try resolve(network).networkId
        _ = try await node.connectToPeer(peerId: peer, networkId: network, address: address)
        return ConnectReport(peerId: peer.base64Encoded, networkId: network.base64Encoded, address: address)
    }

    /// Dials with a text that the other member gave; a token in it that is no good is refused before anything is sent.
    func connect(byText text: String) async throws -> ConnectReport {
        let data = try PeerConnectionData.fromQRString(text)
        guard data.token.verify() else {
            throw CommandFailure(
                "bad-connection-text",
                .data,
                "the token in this connection text has expired or is forged: ask the other member for a new text"
            )
        }
        let connection = try await node.connectToPeer(
            peerId: data.peerId,
            networkId: data.networkId,
            address: data.address
        )
        return ConnectReport(
            peerId: connection.peerId.base64Encoded,
            networkId: connection.networkId.base64Encoded,
            address: connection.address.description
        )
    }

    func connectionText(_ network: NetworkName?, address: String?) throws -> ConnectionTextReport {
        let network = try resolve(network).networkId
        let place: SocketAddress
        if let address {
            place = try Settings.address(address)
        } else if let bound = node.listenAddresses.first(where: \.isDialable) {
            place = bound
        } else {
            throw CommandFailure(
                "no-address",
                .usage,
                "this node listens on all its addresses: say at which one the other member can reach it with --address IP:PORT"
            )
        }
        let data = try node.connectionData(networkId: network, address: place.description)
        return ConnectionTextReport(
            networkId: network.base64Encoded,
            peerId: node.peerId.base64Encoded,
            address: data.address,
            text: data.qrString
        )
    }

    func send(_ text: String, to peer: PeerName) async throws -> SentReport {
        let peer = try resolve(peer)
        try await node.sendToPeer(text, peerId: peer)
        return SentReport(peerIds: [peer.base64Encoded], bytes: text.utf8.count)
    }

    func broadcast(_ text: String, in network: NetworkName?) async throws -> SentReport {
        let network = try network.map { try resolve($0).networkId }
        let peers = node.connectedPeers(in: network)
        guard !peers.isEmpty else {
            throw CommandFailure(
                "nobody-connected",
                .unavailable,
                "nobody is connected: dial somebody with `runar connect TEXT` first"
            )
        }
        try await node.broadcast(text, peerIds: peers)
        return SentReport(peerIds: peers.map(\.base64Encoded), bytes: text.utf8.count)
    }

    func sendFile(_ path: String, to peer: PeerName, _ reply: @escaping Reply) async throws -> FileSentReport {
        let peer = try resolve(peer)
        let started = ContinuousClock.now
        let (steps, continuation) = AsyncStream.makeStream(of: FileProgress.self, bufferingPolicy: .bufferingNewest(1))
        let total = Locked<UInt64>(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await self.node.sendFile(at: path, peerId: peer) { progress in
                    total.withLock { $0 = progress.total }
                    continuation.yield(progress)
                }
            }
            for await step in steps {
                await reply(.update(.transferred(count: step.transferred, total: step.total)))
            }
            try await group.waitForAll()
        }
        return FileSentReport(
            peerId: peer.base64Encoded,
            path: path,
            bytes: total.withLock { $0 },
            milliseconds: started.duration(to: .now).milliseconds
        )
    }
}
