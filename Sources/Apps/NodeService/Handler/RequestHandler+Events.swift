package import Foundation
internal import Identity
internal import Node
package import RunarNode

// Events: published by this device, and told as they come for as long as somebody subscribes.
extension RequestHandler {
    /// How long a command without a node waits for the others to say that they have its event.
    private static let farewellPatience = Duration.seconds(10)

    package func publish(_ event: Data, to topic: String, in network: NetworkName?) async throws -> PublishedReport {
        let network = try resolve(network)
        try await node.publish(networkId: network.networkId, topic: topic, message: event)
        let isIsolated = node.isIsolated(networkId: network.networkId)
        if isPassing {
            guard !isIsolated else {
                throw CommandFailure(
                    "nobody-connected",
                    .unavailable,
                    "nobody is there to get the event, and this command does not stay: with `runar up` a node keeps it for"
                        + " whoever comes within half an hour"
                )
            }
            await waitForOthers(in: network.networkId)
        }
        return PublishedReport(
            networkId: network.networkId.base64Encoded,
            topic: topic,
            bytes: event.count,
            isIsolated: isIsolated
        )
    }

    /// Asks the members something: what a peer was sent before, it has by the time it answers.
    private func waitForOthers(in network: NetworkId) async {
        let policy = DHTPolicy(deadline: Self.farewellPatience)
        let key = Data("runar publish".utf8)
        _ = try? await node.dhtRecords(networkId: network, key: key, policy: policy)  // the event went out before
    }

    package func subscribe(
        to topic: String,
        in network: NetworkInfo,
        includesPast: Bool,
        _ tell: @escaping Tell
    ) async throws {
        let id = network.networkId
        let changes = node.eventStream
        let events = try node.events(networkId: id, topic: topic, includesPast: includesPast)
        let ready = SubscribedReport(
            networkId: id.base64Encoded,
            networkName: network.name ?? id.short,
            topic: topic,
            isIsolated: node.isIsolated(networkId: id)
        )
        await tell(.subscribed(ready))
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await change in changes {
                    switch change {
                    case .eventsIsolated(id, _), .membershipEnded(id, _):
                        await tell(.event(EventReport(change)))
                    default: continue
                    }
                }
            }
            var labels: [PeerId: String?] = [:]
            for await event in events {
                let label = labels[event.publisher] ?? label(of: event.publisher)
                labels[event.publisher] = .some(label)
                await tell(.published(TopicEventReport(event, in: id, label: label)))
            }
            group.cancelAll()
        }
    }

    private func label(of peer: PeerId) -> String? {
        // Without a label the id is shown.
        (try? node.knownPeers())?.first { $0.peerId == peer }?.label  // see above
    }
}
