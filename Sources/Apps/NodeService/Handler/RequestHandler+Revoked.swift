internal import Identity
internal import Node
internal import RunarNode

// Failures of a device that its owner removed from a network.
extension RequestHandler {
    /// The networks whose owners revoked this device.
    func revokedNetworks() throws -> Set<NetworkId> {
        Set(try node.membershipStates().filter(\.isRevoked).map(\.networkId))
    }

    /// Returns the failure of a request; for a revoked device it says so, since no other advice helps.
    package func failure(_ error: any Error, in network: NetworkName?) -> CommandFailure {
        let network = try? revokedNetwork(behind: error, network)  // nil: the error stands
        return network.map { CommandFailure(revokedFrom: $0) } ?? CommandFailure(error)
    }

    /// The network that an error is about, if its owner revoked this device.
    private func revokedNetwork(behind error: any Error, _ name: NetworkName?) throws -> NetworkInfo? {
        let networks: [NetworkId]
        switch error {
        case NodeError.notAMember(let network): networks = [network]
        case NodeError.noSharedNetwork(let peer):
            networks = try node.knownPeers().first { $0.peerId == peer }?.networks ?? node.networks().map(\.networkId)
        case DHTError.notAMember: networks = [try resolve(name).networkId]
        default: return nil
        }
        let revoked = try revokedNetworks().intersection(networks)
        return try node.networks().first { revoked.contains($0.networkId) }
    }
}

extension CommandFailure {
    /// The next step of a revoked device.
    static let adviceAfterRevocation = "`runar keys renew-device` makes a new key, with which it can be invited again"

    fileprivate init(revokedFrom network: NetworkInfo) {
        let name = network.name ?? network.networkId.short
        self.init(
            "revoked",
            .notPermitted,
            "the owner of \(name) removed this device from it for good; \(Self.adviceAfterRevocation)"
        )
    }
}
