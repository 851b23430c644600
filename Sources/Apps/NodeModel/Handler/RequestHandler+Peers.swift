internal import CommandModel
internal import Concurrency
internal import Foundation
package import Identity
internal import Node
internal import RunarNode

// Peers, messages and files.
extension RequestHandler {
    /// The connected peers, all known and nearby ones, or one of them.
    func peers(all: Bool, only wanted: PeerId? = nil) throws -> PeersReport {
        let networks = try node.networks()
        let connected = networks.map { Set(node.connectedPeers(in: $0.networkId)) }
        let heard = networks.map { Set(node.discoveryService.getDiscoveredPeers(for: $0.networkId).map(\.peerId)) }
        let known = Dictionary(uniqueKeysWithValues: try node.knownPeers().map { ($0.peerId, $0) })
        let isGiven = { (peer: PeerId) in known[peer]?.isGiven == true }
        let others = all ? heard.reduce(into: Set(known.keys)) { $0.formUnion($1) } : []
        let shown = others.union(node.connectedPeers())
        let peers = shown.filter { wanted == nil || $0 == wanted }.sorted().map { peer in
            let shared = networks.indices.filter { index in
                connected[index].contains(peer) || all && heard[index].contains(peer)
                    || all && known[peer]?.networks.contains(networks[index].networkId) == true
            }.map { networks[$0] }
            let isHeard = heard.contains { $0.contains(peer) }
            var ways: [FoundBy] = (isHeard ? [.localNetwork] : []) + (isGiven(peer) ? [.address] : [])
            if ways.isEmpty, let known = known[peer], known.isInHashTable, known.lastSeen == nil { ways = [.hashTable] }
            let path = node.path(to: peer)
            return PeersReport.Peer(
                peerId: peer.base64Encoded,
                peerIdText: peer.text,
                networks: shared.map(\.networkId.base64Encoded),
                networkNames: shared.map { $0.name ?? $0.networkId.short },
                label: known[peer]?.label,
                connected: connected.contains { $0.contains(peer) },
                relayed: path?.isRelayed,
                address: path?.address?.description,
                relay: path?.relay?.base64Encoded,
                foundBy: ways.map(\.rawValue),
                lastSeen: known[peer]?.lastSeen.map(UnixTime.clampedSeconds),
                roundTripMicroseconds: node.roundTrip(to: peer)?.microseconds,
                disconnected: PeersReport.Peer.ManualDisconnect(
                    node.manualDisconnect(from: peer),
                    at: now.wallSeconds
                )
            )
        }
        let revoked = try revokedNetworks()
        let isMember = networks.contains { $0.isMember && !revoked.contains($0.networkId) }
        let membership: PeersReport.Membership = isMember ? .member : revoked.isEmpty ? .none : .revoked
        return PeersReport(running: node.isRunning, all: all, membership: membership, peers: peers)
    }

    /// The longest search of the hash tables before peers are listed.
    private static let searchTime = Duration.seconds(2)

    /// Asks the hash tables for their members, so that the list has those that this device never met.
    package func findMembers() async {
        let node = node
        guard node.isRunning, let networks = try? node.networks() else { return }  // the list reports the failure
        let policy = DHTPolicy(deadline: Self.searchTime, attempts: 1)
        await withTaskGroup { group in
            for network in networks where network.isMember {
                group.addTask {
                    _ = try? await node.dhtFindPeers(networkId: network.networkId, policy: policy)  // no members
                }
            }
        }
    }

    package func connect(
        _ peer: PeerName,
        _ network: NetworkName?,
        _ address: String?,
        overRelay isRelayOnly: Bool
    ) async throws -> ConnectReport {
        let peer = try resolve(peer)
        let network = try network.map { try resolve($0).networkId } ?? sharedNetwork(with: peer)
        if let address {
            _ = try await node.connectToPeer(peerId: peer, networkId: network, address: address)
        } else {
            try await node.connectToPeer(peerId: peer, networkId: network, overRelay: isRelayOnly)
        }
        return ConnectReport(peerId: peer, networkId: network, path: node.path(to: peer))
    }

    /// The first network in which this device and a peer are members as far as is known; else the only network here.
    private func sharedNetwork(with peer: PeerId) throws -> NetworkId {
        let shared = try node.knownPeers().first { $0.peerId == peer }?.networks ?? []
        let own = try node.networks().first { $0.isMember && shared.contains($0.networkId) }
        return try own?.networkId ?? resolve(nil).networkId
    }

    /// Dials with a text that the other member gave, after punching a hole for an address beyond this site; a token in it
    /// that is no good is refused before anything is sent.
    package func connect(byText text: String) async throws -> ConnectReport {
        let data = try PeerConnectionData.fromQRString(text)
        guard data.token.verify() else {
            throw CommandFailure(
                "bad-connection-text",
                .data,
                "the token in this connection text has expired or is forged: ask the other member for a new text"
            )
        }
        guard try node.networks().contains(where: { $0.networkId == data.networkId && $0.isMember }) else {
            throw NodeError.notAMember(data.networkId)
        }
        let place = try SocketAddress(parsing: data.address)
        // On the same site no NAT is on the way, and the peer would keep silent for the whole second.
        if !place.isLoopback, !place.isLinkLocal, !place.isPrivate, !node.connectedPeers().contains(data.peerId) {
            try await node.natTraversal.punchHole(localPort: 0, peerAddress: data.address)
        }
        let connection = try await node.connectToPeer(
            peerId: data.peerId,
            networkId: data.networkId,
            address: data.address
        )
        let path = node.path(to: connection.peerId)
        return ConnectReport(peerId: connection.peerId, networkId: connection.networkId, path: path)
    }

    package func connectionText(_ network: NetworkName?, address: String?) throws -> ConnectionTextReport {
        let found = try resolve(network)
        let network = found.networkId
        guard found.isMember else { throw NodeError.notAMember(network) }
        let place: SocketAddress
        if let address {
            place = try Setting.address(address)
        } else if let bound = node.listenAddresses.first(where: \.isDialable) {
            place = bound
        } else if let port = node.listenAddresses.first?.port {
            throw CommandFailure(
                "no-address",
                .usage,
                "this node listens on all its addresses: give the one for the other member with --address IP:\(port)"
            )
        } else {
            throw CommandFailure(
                "not-running",
                .unavailable,
                "no node runs, so it has no port yet: start it with `runar up`, or give one with --address IP:PORT"
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

    package func send(_ text: String, to peer: PeerName) async throws -> SentReport {
        let node = node
        return try await deliver(text, to: resolve(peer), isSealed: false) { peer in
            try await node.sendToPeer(text, peerId: peer)
        }
    }

    /// Keeps a text among the messages while `send` delivers it.
    func deliver(
        _ text: String,
        to peer: PeerId,
        isSealed: Bool,
        _ send: (PeerId) async throws -> Void
    ) async throws -> SentReport {
        guard let watch else {
            try await send(peer)
            return SentReport(peerIds: [peer.base64Encoded], bytes: text.utf8.count)
        }
        let label = watch.label(of: peer)
        let sent = try await watch.messages.whileSending(text, to: peer, in: nil, label: label, isSealed: isSealed) {
            try await send(peer)
        }
        return SentReport(peerIds: [peer.base64Encoded], bytes: text.utf8.count, number: sent.number)
    }

    package func broadcast(_ text: String, in network: NetworkName?) async throws -> BroadcastReport {
        let network = try network.map { try resolve($0).networkId }
        let peers = node.connectedPeers(in: network)
        guard !peers.isEmpty else {
            throw CommandFailure(
                "no-member-connected",
                .unavailable,
                "no peer is connected: members nearby connect by themselves while `runar up` runs there; dial others"
                    + " with `runar connect TEXT` first"
            )
        }
        guard let watch else { return try await deliver(text, to: peers) }
        let (report, number) = try await watch.messages.whileSending(text, to: nil, in: network, label: nil) {
            try await deliver(text, to: peers)
        }
        if let error = report.error { watch.messages.noteFailure(of: number, error.message) }
        return report.numbered(number)
    }

    private func deliver(_ text: String, to peers: [PeerId]) async throws -> BroadcastReport {
        do {
            try await node.broadcast(text, peerIds: peers)
            return BroadcastReport(delivered: peers, bytes: text.utf8.count)
        } catch let error as BroadcastError {
            return BroadcastReport(delivered: error.delivered, failures: error.failures, bytes: text.utf8.count)
        }
    }

    package func sendFile(
        _ path: String,
        named name: String? = nil,
        to peer: PeerId,
        _ tell: @escaping Tell
    ) async throws -> FileSentReport {
        // The wait for the recipient's consent does not count for the transfer rate.
        let began = Locked<Duration?>(nil)
        let clock = node.clock
        let (steps, continuation) = AsyncStream.makeStream(of: FileProgress.self, bufferingPolicy: .bufferingNewest(1))
        async let sending: SentFile = {
            defer { continuation.finish() }
            return try await node.sendFile(at: path, named: name, peerId: peer) { progress in
                if progress.transferred > 0 { began.withLock { $0 = $0 ?? clock.now().monotonic } }
                continuation.yield(progress)
            }
        }()
        for await step in steps {
            await tell(.transferred(count: step.transferred, total: step.total))
        }
        let sent = try await sending
        return FileSentReport(
            peerId: peer.base64Encoded,
            path: path,
            name: sent.name,
            bytes: sent.byteCount,
            hasGrown: sent.hasGrown,
            milliseconds: began.withLock { $0 }.map { (clock.now().monotonic - $0).milliseconds } ?? 0
        )
    }
}

extension RequestHandler {
    package func peersView(all: Bool, in name: NetworkName?, _ page: Page) throws -> PeersView {
        let network = try name.map { try resolve($0).networkId.base64Encoded }
        let report = try peers(all: all)
        let found = report.peers.filter { peer in
            network.map { peer.networks.contains($0) } ?? true
                && page.matches([peer.peerIdText, peer.label] + peer.networkNames)
        }
        return PeersView(
            running: report.running,
            all: all,
            membership: report.membership,
            total: found.count,
            peers: page.cut(found)
        )
    }

    /// The view of a peer; of an unknown one it has the id alone.
    package func peerView(_ name: PeerName) throws -> PeerView {
        let peer = try resolve(name)
        let known = try peers(all: true, only: peer).peers.first
        let nobody = PeersReport.Peer(
            peerId: peer.base64Encoded,
            peerIdText: peer.text,
            networks: [],
            networkNames: [],
            label: nil,
            connected: false,
            relayed: nil,
            address: nil,
            relay: nil,
            foundBy: [],
            lastSeen: nil,
            roundTripMicroseconds: nil
        )
        return PeerView(known ?? nobody, PeerReach(try facts(of: peer, isWhole: true)))
    }
}

// A node that was started for one command has no connections yet.
extension RequestHandler {
    /// The time in which members that are near or known usually connect.
    private static let patience = Duration.seconds(3)

    /// Waits until the peers that a request needs are connected, for a few seconds at most.
    package func wait(for requiredPeers: RequiredPeers) async {
        guard node.isRunning, let isThere = isThere(requiredPeers) else { return }
        let events = node.eventStream
        guard !isThere(), node.discoveryService.isRunning || isAnybodyKnown else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in events where isThere() { return }
            }
            group.addTask {
                try? await Task.sleep(for: Self.patience)  // cancelled once they are connected
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// The check for the peers that a request needs; nil if it needs none, or fails by itself.
    private func isThere(_ requiredPeers: RequiredPeers) -> (@Sendable () -> Bool)? {
        let node = node
        switch requiredPeers {
        case .nobody: return nil
        case .everybody: return { false }
        case .peer(let name):
            guard let peer = try? resolve(name) else { return nil }  // the request reports the failure
            return { node.connectedPeers().contains(peer) }
        case .member(nil): return { !node.connectedPeers().isEmpty }
        case .member(let name?): return isAnybodyThere(in: name)
        case .memberOfOne(let name): return isAnybodyThere(in: name)
        case .exchange(let name):
            guard let network = try? resolve(name).networkId else { return nil }  // the request reports the failure
            return { !node.isIsolated(networkId: network) }
        }
    }

    private func isAnybodyThere(in name: NetworkName?) -> (@Sendable () -> Bool)? {
        guard let network = try? resolve(name).networkId else { return nil }  // the request reports the failure
        return { [node] in !node.connectedPeers(in: network).isEmpty }
    }

    /// Whether any peer is known; false if the store cannot be read.
    private var isAnybodyKnown: Bool { (try? node.knownPeers().isEmpty) == false }  // see above
}
