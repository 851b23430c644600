internal import Identity
internal import Platform
internal import RunarNode

// How the node stands.
extension RequestHandler {
    /// Memberships that end sooner are worth a warning; a token that lasts longer was renewed long before.
    private static let warningSeconds: UInt64 = 7 * 86_400

    package func status() throws -> StatusReport {
        let networks = try node.networks()
        return StatusReport(
            isRunning: node.isRunning,
            home: home.path,
            processId: SystemProcess.id,
            peerId: node.peerId.base64Encoded,
            peerIdText: node.peerId.text,
            addresses: node.listenAddresses.map(\.description),
            uptimeSeconds: UInt64(max(0, started.duration(to: .now).components.seconds)),
            console: console?.currentAddress,
            consoleLan: console?.lan.currentPlace?.addresses,
            networks: networks.count,
            connectedPeers: node.connectedPeers().count,
            discovery: try discovery(),
            tables: networks.compactMap { table(of: $0) },
            events: networks.filter(\.isMember).map { events(of: $0) },
            expiring: try networks.compactMap { try expiring($0) },
            revoked: try node.membershipStates().compactMap(StatusReport.Revoked.init),
            configuration: (watch?.settings.reports ?? settings.reports)
                .map { $0.key == .consoleLan ? console?.lan.report ?? $0 : $0 }
        )
    }

    private func discovery() throws -> StatusReport.Discovery {
        let service = node.discoveryService
        let groups = try Settings.groups(settings[.discoveryGroup]?.texts ?? [])
        return StatusReport.Discovery(
            running: service.isRunning,
            groups: service.isRunning ? [groups.ipv4, groups.ipv6].compactMap { $0?.description } : [],
            interfaces: service.interfaces
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
        guard let end = network.token?.expirationSeconds, end < SystemProcess.wallSeconds + Self.warningSeconds else {
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
