internal import CommandModel
internal import Foundation
package import Identity
internal import Platform
internal import RunarNode
internal import Traversal

// The state of the node.
extension RequestHandler {
    /// Memberships that end sooner are worth a warning; a token that lasts longer was renewed long before.
    private static let warningSeconds: UInt64 = 7 * 86_400

    package func status() throws -> StatusReport {
        let networks = try node.networks()
        return StatusReport(
            running: node.isRunning,
            home: home.path,
            processId: SystemProcess.id,
            peerId: node.peerId.base64Encoded,
            peerIdText: node.peerId.text,
            addresses: node.listenAddresses.map(\.description),
            uptimeSeconds: UInt64(max(0, (now.monotonic - started).components.seconds)),
            console: consoleStatus?.currentAddress,
            consoleLan: consoleStatus?.lanAddresses,
            networks: networks.count,
            connectedPeers: node.connectedPeers().count,
            discovery: try discovery(),
            tables: networks.compactMap { table(of: $0) },
            events: networks.filter(\.isMember).map { events(of: $0) },
            expiring: try networks.compactMap { try expiring($0) },
            revoked: try node.membershipStates().compactMap(StatusReport.Revoked.init),
            keysUsedTwice: try keysUsedTwice(),
            storageProblem: node.storageProblem(),
            configuration: (watch?.settings.reports ?? settings.reports)
                .map { $0.key == .consoleLan ? consoleStatus?.lanReport ?? $0 : $0 }
        )
    }

    private func discovery() throws -> StatusReport.Discovery {
        let service = node.discoveryService
        let groups = try Setting.groups(settings[.discoveryGroup]?.texts ?? [])
        return StatusReport.Discovery(
            running: service.isRunning,
            groups: service.isRunning ? [groups.ipv4, groups.ipv6].compactMap { $0?.description } : [],
            interfaces: service.interfaces,
            leftOutInterfaces: service.leftOutInterfaces
        )
    }

    private func table(of network: NetworkInfo) -> StatusReport.Table? {
        guard let status = node.dhtStatus(networkId: network.networkId) else { return nil }
        return StatusReport.Table(
            networkId: network.networkId.base64Encoded,
            networkName: network.name ?? network.networkId.short,
            members: status.contacts,
            records: status.records,
            recordBytes: status.recordBytes,
            ownRecords: status.ownRecords
        )
    }

    private func events(of network: NetworkInfo) -> StatusReport.Events {
        StatusReport.Events(
            networkId: network.networkId.base64Encoded,
            networkName: network.name ?? network.networkId.short,
            isIsolated: node.isIsolated(networkId: network.networkId)
        )
    }

    private func expiring(_ network: NetworkInfo) throws -> StatusReport.Expiring? {
        guard let end = network.token?.expirationSeconds, end < now.wallSeconds + Self.warningSeconds else {
            return nil
        }
        return StatusReport.Expiring(
            networkId: network.networkId.base64Encoded,
            networkName: network.name ?? network.networkId.short,
            expiration: end,
            isRenewing: try settings.isOn(.renewTokens)
        )
    }
}

extension RequestHandler {
    package func nodeView(of watch: NodeWatch) -> NodeView {
        NodeView(
            peerId: node.peerId.base64Encoded,
            peerIdText: node.peerId.text,
            version: ProductVersion.text,
            boot: watch.activity.boot,
            startedAt: watch.started,
            processId: SystemProcess.id,
            home: home.path,
            addresses: node.listenAddresses.map(\.description)
        )
    }

    /// - Throws: ``FileError``, ``StorageError``.
    package func storageView(of watch: NodeWatch) throws -> StorageView {
        let names = try SystemFileSystem().names(in: home.path)
        let parts = names.map { StorageView.Part(name: $0, bytes: Self.byteCount(of: home.file($0))) }
            .sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
        // Left out if the system does not report it.
        let system = try? FileManager.default.attributesOfFileSystem(forPath: home.path)  // see above
        return StorageView(
            home: home.path,
            bytes: parts.reduce(0) { $0 + $1.bytes },
            parts: parts,
            vault: try vaultKind,
            recordBytes: try node.networks().reduce(0) {
                $0 + (node.dhtStatus(networkId: $1.networkId)?.recordBytes ?? 0)
            },
            filesDirectory: watch.files.directory,
            freeBytes: (system?[.systemFreeSize] as? NSNumber)?.intValue
        )
    }

    /// - Throws: ``KeychainError``, ``StorageError``.
    package func keysView() async throws -> KeysView {
        let owned = try node.networks().filter(\.isOwner)
        return KeysView(
            keys: try Self.keyNames.compactMap { name in
                try keys.retrieve(id: name).map { try KeyReport(name, $0, isRevealed: false) }
            },
            networks: owned.map { network in
                KeysView.Network(
                    networkId: network.networkId.base64Encoded,
                    name: network.name,
                    index: network.index,
                    hasOwnKey: network.index == nil
                )
            },
            certificateStatus: try await node.keychain.getCertificateStatus().rawValue,
            vault: try vaultKind
        )
    }

    /// The kind of secret that opens the vault.
    package var vaultKind: VaultSecretKind {
        get throws {
            try VaultFile.isOpenedWithKeyFile(at: home.file(NodeDirectory.vaultName)) ? .keyFile : .passphrase
        }
    }

    /// The bytes of a file or of the files in a directory; a file that vanishes counts as 0.
    private static func byteCount(of path: String) -> Int {
        var count = size(of: path)
        for case let name as String in FileManager.default.enumerator(atPath: path) ?? FileManager.DirectoryEnumerator()
        {
            count += size(of: FilePath.joining(path, name))
        }
        return count
    }

    private static func size(of path: String) -> Int {
        let facts = try? FileManager.default.attributesOfItem(atPath: path)  // removed: see above
        guard facts?[.type] as? FileAttributeType == .typeRegular else { return 0 }
        return (facts?[.size] as? NSNumber)?.intValue ?? 0
    }
}

// The facts of the node for the doctor.
extension RequestHandler {
    package func facts(about name: PeerName?) async throws -> NodeFacts {
        let observations = node.natObservations
        return NodeFacts(
            isRunning: node.isRunning,
            addresses: node.listenAddresses.map(\.description),
            isDiscovering: node.discoveryService.isRunning,
            leftOutInterfaces: node.discoveryService.leftOutInterfaces,
            renewsTokens: try settings.isOn(.renewTokens),
            networks: try node.membershipStates().map { NodeFacts.Network($0) },
            peers: node.connectedPeers().map {
                NodeFacts.Peer(peerIdText: $0.text, relayed: node.path(to: $0)?.isRelayed ?? false)
            },
            mapping: observations.map { NodeFacts.Mapping($0.mapping) } ?? .unknown,
            isMappingProven: observations?.isProven ?? false,
            filtering: (await node.filtering()).map(\.word),
            observed: observations?.addresses.map(\.description) ?? [],
            keysUsedTwice: try keysUsedTwice(),
            storageProblem: node.storageProblem(),
            peer: try name.map { try facts(of: resolve($0)) }
        )
    }

    /// With the last attempt to reach it, or with all that is remembered.
    package func facts(of peer: PeerId, isWhole: Bool = false) throws -> PeerFacts {
        let history = node.pathHistory(of: peer)
        let known = try node.knownPeers().first { $0.peerId == peer }
        let isHeard = { [node] (network: NetworkId) in
            node.discoveryService.getDiscoveredPeers(for: network).contains { $0.peerId == peer }
        }
        let networks = try node.networks().filter {
            known?.networks.contains($0.networkId) == true || node.connectedPeers(in: $0.networkId).contains(peer)
                || isHeard($0.networkId)
        }
        let path = node.path(to: peer)
        return PeerFacts(
            peerIdText: peer.text,
            label: known?.label,
            networks: networks.map { $0.name ?? $0.networkId.short },
            connected: node.connectedPeers().contains(peer),
            relayed: path?.isRelayed ?? false,
            path: path.map { "\($0)" },
            lastSeen: known?.lastSeen.map(UnixTime.clampedSeconds),
            nearby: networks.contains { isHeard($0.networkId) },
            addresses: try node.knownAddresses(of: peer).map(\.description),
            history: isWhole ? history.map { PeerFacts.Step($0) } : PeerFacts.Step.lastAttempt(in: history)
        )
    }
}

extension FilteringBehaviour {
    /// A stable word.
    fileprivate var word: String {
        switch self {
        case .endpointIndependent: "endpointIndependent"
        case .endpointDependent: "endpointDependent"
        case .unknown(.noHelper): "unknown: no member to ask"
        case .unknown(.noAlternate): "unknown: no second member"
        case .unknown(.noAnswer): "unknown: no answer"
        }
    }
}

extension NodeFacts.Network {
    package init(_ state: MembershipState) {
        self.init(
            name: state.name ?? state.networkId.short,
            networkId: state.networkId.base64Encoded,
            isOwner: state.isOwner,
            isMember: state.token != nil,
            expiration: state.token?.expirationSeconds,
            isRevoked: state.isRevoked,
            latestSigned: state.latestSignedSeconds
        )
    }
}
