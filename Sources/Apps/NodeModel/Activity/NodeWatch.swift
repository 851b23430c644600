internal import Circle
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import Identity
internal import Logging
internal import Node
internal import Platform
package import RunarNode
internal import SealedMessages

/// The record of a running node's activity, for the pages that show it.
package final class NodeWatch: Sendable {
    /// Peers whose round-trip times are in a sample.
    private static let roundTripLimit = 64
    /// Samples between two keep-alive lines.
    private static let aliveEvery = 5

    package let activity: Activity
    package let messages: MessageHistory
    package let files: FileStore
    package let logs: LogRing
    let tap: MetricsTap
    package let settings: SettingChanges
    let started: UInt64
    private let node: RunarNode
    private let labels: PeerLabels

    /// Watches a node that reports its metrics to `tap` and its log lines to `logs`.
    package init(node: RunarNode, tap: MetricsTap, logs: LogRing, home: DataDirectory, settings: Settings) {
        self.node = node
        self.tap = tap
        self.logs = logs
        self.settings = SettingChanges(settings: settings, home: home)
        let labels = PeerLabels(node)
        self.labels = labels
        started = node.clock.now().wallSeconds
        activity = Activity(clock: node.clock)
        messages = MessageHistory(activity: activity)
        files = FileStore(home: home, standing: settings.text(.acceptFiles), activity: activity) { labels[$0] }
    }

    /// Returns the label that this device's person gave to a peer.
    func label(of peer: PeerId) -> String? { labels[peer] }

    /// Records the node's activity until the task is cancelled; call ``listen()`` before the node starts.
    package func run(_ sources: Sources) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await event in sources.events { self.note(event) }
            }
            group.addTask {
                for await operation in sources.operations { self.activity.tell(ActivityTableOperation(operation)) }
            }
            group.addTask {
                for await (peer, payload) in sources.messages {
                    let report = MessageReport(peer: peer, payload: Array(payload))
                    self.messages.keep(report, label: self.label(of: peer))
                }
            }
            group.addTask { await self.sample() }
        }
        activity.finish()
    }

    /// The streams that are open from now on, so that ``run(_:)`` misses nothing.
    package struct Sources: Sendable {
        let events: AsyncStream<NodeEvent>
        let operations: AsyncStream<TableOperation>
        let messages: AsyncStream<(PeerId, Data)>
    }

    package func listen() -> Sources {
        Sources(events: node.eventStream, operations: node.tableOperations, messages: node.observeMessages())
    }

    /// Records the sealed messages of a device and reports changes of its one-time keys, until these end.
    func follow(_ keys: KeyStoreManager) {
        let (deliveries, changes) = (keys.observeMessages(), keys.changes)
        // Unstructured: it ends with the keys, of which it keeps the streams alone.
        Task {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for await delivery in deliveries {
                        self.messages.keep(MessageReport(sealed: delivery), label: self.label(of: delivery.peer))
                    }
                }
                group.addTask {
                    for await _ in changes { self.noteChanges([.keys]) }
                }
            }
        }
    }

    /// Reports changes of the circle until it ends.
    func follow(_ circle: CircleManager) {
        let events = circle.events
        // Unstructured: it ends with the circle, of which it keeps the stream alone.
        Task { for await _ in events { noteChanges([.circle]) } }
    }

    /// Reports the data that a request changed.
    package func noteChanges(_ subjects: [ActivityChanged.Subject]) {
        if subjects.contains(.networks) { labels.forget() }
        if !subjects.isEmpty { activity.tell(ActivityChanged(what: subjects)) }
    }

    private func note(_ event: NodeEvent) {
        activity.tell(ActivityEvent(EventReport(event)))
        switch event {
        case .joinGranted, .membershipEnded, .tokenRenewed, .revoked: activity.tell(ActivityChanged(what: [.networks]))
        default: break
        }
    }

    private func sample() async {
        var time = node.clock.now().monotonic
        var count = 0
        while !Task.isCancelled {
            time += .seconds(1)
            try? await node.clock.sleep(time)  // cancelled when the node stops
            count += 1
            let sums = tap.take()
            let peers = node.connectedPeers()
            var roundTrips: [String: Int] = [:]
            for peer in peers.prefix(Self.roundTripLimit) {
                roundTrips[peer.base64Encoded] = node.roundTrip(to: peer)?.microseconds
            }
            activity.tell(
                ActivitySample(
                    sentBytes: sums.sentBytes,
                    receivedBytes: sums.receivedBytes,
                    sentMessages: sums.sentMessages,
                    receivedMessages: sums.receivedMessages,
                    connectedPeers: peers.count,
                    roundTrips: roundTrips,
                    requestMilliseconds: sums.milliseconds
                )
            )
            if count.isMultiple(of: Self.aliveEvery) { activity.tellAlive() }
        }
    }
}

/// The labels that this device's person gave to peers, read once until ``forget()``.
final class PeerLabels: Sendable {
    private let node: RunarNode
    private let labels = Locked<[PeerId: String]?>(nil)

    init(_ node: RunarNode) { self.node = node }

    subscript(peer: PeerId) -> String? {
        labels.withLock { labels in
            if let labels { return labels[peer] }
            // Without labels ids are shown.
            let known = (try? node.knownPeers()) ?? []  // see above
            let named = known.compactMap { peer in peer.label.map { (peer.peerId, $0) } }
            let read = Dictionary(uniqueKeysWithValues: named)
            labels = read
            return read[peer]
        }
    }

    func forget() { labels.withLock { $0 = nil } }
}
