internal import NodeCore
internal import PubSub

/// The spread of events.
struct EventProbe {
    /// An event that counts.
    private struct Published {
        let at: Int64
        /// The nodes that were running and admitted then, without the publisher.
        let audience: Int
        var deliveries = 0
        var onTime3s = 0
        var onTime15s = 0
        var lastHops: UInt8 = 0
        var lastAt: Int64 = 0
    }

    /// The node that publishes all events that random nodes do not publish.
    var publisher: Int?
    /// Events that nodes abandoned.
    var gaps = 0
    /// Looked up, and walked in the order of publication.
    private var published: [Published] = []
    private var indices: [StreamId: [UInt64: Int]] = [:]
    /// Copies of batches that arrived anywhere while events counted.
    private var copies = 0
    private var announcements = 0
    private(set) var isCounting = false
    private var delays = Samples()

    mutating func begin(isWarmUp: Bool) { isCounting = !isWarmUp }

    mutating func note(_ batch: EventBatch, at time: Int64, audience: Int) {
        indices[batch.stream, default: [:]][batch.first] = published.count
        published.append(Published(at: time, audience: audience))
    }

    mutating func noteDelivery(_ batch: EventBatch, _ hops: UInt8, at time: Int64) {
        guard let index = indices[batch.stream]?[batch.first] else { return }
        let delay = time - published[index].at
        delays.add(delay)
        published[index].deliveries += 1
        published[index].onTime3s += delay <= 3_000_000_000 ? 1 : 0
        published[index].onTime15s += delay <= 15_000_000_000 ? 1 : 0
        published[index].lastHops = hops
        published[index].lastAt = time
    }

    /// Counts the content of a frame that arrived at a node.
    mutating func noteFrame(_ bytes: [UInt8]) {
        guard isCounting, let kind = Frame.kindOfEventMessage(bytes) else { return }
        switch Message.Kind(rawValue: kind) {
        case .gossip, .answer: copies += 1
        case .iHave: announcements += 1
        case .neighbourRequest, .neighbourAnswer, .neighbourEnd, .iWant, .prune, nil:
            // These carry no event.
            break
        }
    }

    func add(to figures: inout Figures) {
        guard !published.isEmpty else { return }
        let audience = published.reduce(0) { $0 + $1.audience }
        let delivered = published.reduce(0) { $0 + $1.deliveries }
        let count = Double(published.count)
        figures["eventsPublished"] = count
        figures["eventsMissed"] = Double(audience - delivered)
        let soon = published.reduce(0) { $0 + $1.onTime3s }
        let later = published.reduce(0) { $0 + $1.onTime15s }
        figures["eventsMissingShareAt3s"] = 1 - Self.share(soon, of: audience)
        figures["eventsMissingShareAt15s"] = 1 - Self.share(later, of: audience)
        figures["eventGaps"] = Double(gaps)
        figures["eventRedundancy"] = Self.share(copies, of: audience) - 1
        figures["eventAnnouncementsPerDelivery"] = Self.share(announcements, of: audience)
        figures["eventLastHopsMean"] = Double(published.reduce(0) { $0 + Int($1.lastHops) }) / count
        figures.add("eventDelay", delays)
    }

    private static func share(_ part: Int, of whole: Int) -> Double { whole == 0 ? 0 : Double(part) / Double(whole) }
}
