internal import Identity

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// Requests that leave the device, and those that come from others.
extension RunarNode {
    /// Whether there may be somebody else to ask in a network.
    func canAskPeers(in network: NetworkKey) -> Bool {
        guard case .known(let id) = network else { return false }
        return self.services.isMember(of: id)
    }

    /// Asks another device.
    func askPeers(
        _ route: ServiceHost.Route,
        payload: Data,
        encoding: PayloadEncoding?,
        _ options: RequestOptions
    ) async throws -> EncodedAnswer {
        throw ServiceFailures.noService(route.path)
    }
}
