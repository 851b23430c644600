internal import Bytes
internal import CommandModel
package import Foundation
internal import Identity
internal import Kademlia
internal import RunarNode

// Values in the networks' hash tables, and the members found in them.
extension RequestHandler {
    package func put(
        _ value: Data,
        under key: TableKey,
        _ condition: PutCondition,
        lifetime: Duration?
    ) async throws -> PutReport {
        let network = try resolve(key.network).networkId
        let receipt = try await node.dhtPut(
            networkId: network,
            key: Data(key.bytes()),
            value: value,
            condition: condition.condition,
            lifetime: lifetime ?? RunarNode.recordLifetime,
            policy: key.policy
        )
        return PutReport(
            networkId: network.base64Encoded,
            key: key.text,
            version: receipt.version,
            holders: receipt.replicas,
            expiration: UnixTime.clampedSeconds(of: receipt.expiration),
            bytes: value.count
        )
    }

    package func get(_ key: TableKey, _ options: GetOptions) async throws -> RecordsReport {
        let network = try resolve(key.network)
        let id = network.networkId
        let bytes = Data(try key.bytes())
        let records: [DHTRecord]
        if options.isAll {
            records = try await node.dhtRecords(networkId: id, key: bytes, policy: key.policy)
        } else if let writer = options.writer {
            let peer = try resolve(writer, in: id)
            let found = try await node.dhtRecord(networkId: id, key: bytes, writer: peer, policy: key.policy)
            records = found.map { [$0] } ?? []
        } else {
            let isCached = options.isCached
            let found = try await node.dhtRecord(networkId: id, key: bytes, cache: isCached, policy: key.policy)
            records = found.map { [$0] } ?? []
        }
        guard !records.isEmpty else {
            let value = options.writer == nil ? "no value" : "no value of this member"
            throw CommandFailure(
                "not-found",
                .noInput,
                "\(value) is stored under \"\(key.text)\" in \(network.name ?? id.short), or it has expired: check the"
                    + " key; `runar put` stores a value"
            )
        }
        return RecordsReport(networkId: id.base64Encoded, key: key.text, records: records.map { RecordReport($0) })
    }

    package func delete(_ key: TableKey) async throws -> DeleteReport {
        let network = try resolve(key.network).networkId
        let receipt = try await node.dhtDelete(networkId: network, key: Data(key.bytes()), policy: key.policy)
        return DeleteReport(
            networkId: network.base64Encoded,
            key: key.text,
            version: receipt.version,
            holders: receipt.replicas
        )
    }

    /// The members that announce themselves nearby or answer in the hash table.
    package func discover(in name: NetworkName?) async throws -> DiscoverReport {
        let networks = try name.map { [try resolve($0)] } ?? node.networks()
        guard !networks.isEmpty else {
            _ = try resolve(nil)
            return DiscoverReport(discovering: false, peers: [])
        }
        let labels = Dictionary(uniqueKeysWithValues: try node.knownPeers().map { ($0.peerId, $0.label) })
        var peers: [DiscoverReport.Peer] = []
        for network in networks where network.isMember {
            let connected = Set(node.connectedPeers(in: network.networkId))
            for peer in await node.discoverPeers(for: network.networkId) {
                peers.append(
                    DiscoverReport.Peer(
                        peerId: peer.peerId.base64Encoded,
                        peerIdText: peer.peerId.text,
                        networkId: network.networkId.base64Encoded,
                        networkName: network.name ?? network.networkId.short,
                        label: labels[peer.peerId] ?? nil,
                        sources: DiscoveredPeer.Source.allCases.filter { peer.sources.contains($0) }.map(\.rawValue),
                        addresses: peer.addresses.map(\.description),
                        connected: connected.contains(peer.peerId)
                    )
                )
            }
        }
        return DiscoverReport(discovering: node.discoveryService.isRunning, peers: peers)
    }
}

extension TableKey {
    /// The policy of this request; nil for the node's own setting.
    fileprivate var policy: DHTPolicy? { timeout.map { DHTPolicy(deadline: $0) } }
}

extension PutCondition {
    fileprivate var condition: DHTCondition {
        switch self {
        case .any: .any
        case .ifAbsent: .ifAbsent
        case .ifVersion(let version): .ifVersion(version)
        }
    }
}

extension RequestHandler {
    package func recordsView(of name: NetworkName?, _ whose: RecordsView.Whose, _ page: Page) throws -> RecordsView {
        let network = try resolve(name).networkId
        var page = page
        page.limit = min(page.limit ?? RecordsView.limit, RecordsView.limit)
        let own = node.peerId
        let heads = node.storedHeads(networkId: network)
        // A match of the writer's id or label selects all of its records; otherwise each key is matched.
        let writers = Dictionary(grouping: heads.indices) { heads[$0].writer }
        var found: [Int] = []
        for (writer, records) in writers where whose == .held || writer == own {
            if page.matches([writer.text, watch?.label(of: writer)]) {
                found += records
            } else {
                found += records.filter { index in
                    let key = heads[index].key
                    return page.matches([String(utf8: key), Hex.encode(key)])
                }
            }
        }
        found.sort { one, other in
            heads[one].key == heads[other].key
                ? heads[one].writer < heads[other].writer
                : heads[one].key.lexicographicallyPrecedes(heads[other].key)
        }
        let records = page.cut(found).map { index in
            let head = heads[index]
            return RecordsView.Record(
                key: String(utf8: head.key),
                keyHex: Hex.encode(head.key),
                writer: head.writer.base64Encoded,
                writerText: head.writer.text,
                label: watch?.label(of: head.writer),
                isOwn: head.writer == own,
                version: head.version,
                expiration: head.expirySeconds,
                bytes: head.valueByteCount,
                isDeleted: head.isTombstone
            )
        }
        return RecordsView(networkId: network.base64Encoded, total: found.count, records: records)
    }
}
