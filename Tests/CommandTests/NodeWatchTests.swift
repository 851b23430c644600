internal import Foundation
internal import Identity
internal import Logging
internal import RunarNode
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// The state and the events that a running node keeps for its observers.
@Suite("What a node keeps for its console") struct NodeWatchTests {
    private func read(_ stream: AsyncStream<[UInt8]>, _ count: Int) async throws -> [[String: Any]] {
        var lines: [[String: Any]] = []
        for await line in stream {
            lines.append(try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]))
            if lines.count == count { break }
        }
        return lines
    }

    private func number(_ line: [String: Any]) -> Int? { line["seq"] as? Int }

    @Test func `a returning reader gets the lines it missed, and a new reader gets no past`() async throws {
        let activity = Activity()
        for number in 1...5 { activity.tell(ActivityOfferEnded(number: number)) }
        let first = activity.lines(boot: nil, since: nil)
        activity.tell(ActivityOfferEnded(number: 6))
        let lines = try await read(first, 2)
        #expect(lines[0]["kind"] as? String == "hello" && lines[0]["missed"] as? Bool == false)
        #expect(lines[1]["number"] as? Int == 6 && number(lines[1]) == 6)
        let again = try await read(activity.lines(boot: activity.boot, since: 3), 4)
        #expect(again.dropFirst().map { number($0) } == [4, 5, 6])
        #expect(again[0]["missed"] as? Bool == false)
    }

    @Test func `lines of another boot and evicted lines are reported as missed`() async throws {
        let activity = Activity()
        for number in 1...(Activity.lineLimit + 10) { activity.tell(ActivityOfferEnded(number: number)) }
        let other = try await read(activity.lines(boot: "another", since: 5), 1)
        #expect(other[0]["missed"] as? Bool == true)
        let old = try await read(activity.lines(boot: activity.boot, since: 5), 2)
        #expect(old[0]["missed"] as? Bool == true && number(old[1]) == 11)
        let kept = try await read(activity.lines(boot: activity.boot, since: 10), 2)
        #expect(kept[0]["missed"] as? Bool == false && number(kept[1]) == 11)
        let future = try await read(activity.lines(boot: activity.boot, since: 1 << 60), 1)
        #expect(future[0]["missed"] as? Bool == false)
    }

    @Test func `a new reader gets the last samples first, however many lines followed`() async throws {
        let activity = Activity()
        let sample = ActivitySample(
            sentBytes: 1,
            receivedBytes: 2,
            sentMessages: 3,
            receivedMessages: 4,
            connectedPeers: 5,
            roundTrips: ["a": 6],
            requestMilliseconds: [7.5]
        )
        for _ in 0..<(Activity.sampleLimit + 5) { activity.tell(sample) }
        for number in 1...Activity.lineLimit { activity.tell(ActivityOfferEnded(number: number)) }
        let lines = try await read(activity.lines(boot: nil, since: nil), Activity.sampleLimit + 1)
        #expect(lines.dropFirst().allSatisfy { $0["kind"] as? String == "sample" })
        #expect(number(lines[1]) == 6)
    }

    @Test(.timeLimit(.minutes(15))) func `readers that leave during a delivery block no other reader`() async {
        let activity = Activity()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for number in 0..<10_000 { activity.tell(ActivityOfferEnded(number: number)) } }
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<200 {
                        let reading = Task { for await _ in activity.lines(boot: nil, since: nil) {} }
                        await Task.yield()
                        reading.cancel()
                        await reading.value
                    }
                }
            }
        }
        while activity.isWatched { await Task.yield() }
    }

    @Test func `a reader that does not read is dropped, and the others continue`() async throws {
        let activity = Activity()
        let (slow, quick) = (activity.lines(boot: nil, since: nil), activity.lines(boot: nil, since: nil))
        var iterator = quick.makeAsyncIterator()
        _ = await iterator.next()
        for number in 1...5000 {
            activity.tell(ActivityOfferEnded(number: number))
            _ = await iterator.next()
        }
        #expect(activity.isWatched)
        var count = 0
        for await _ in slow { count += 1 }
        #expect(count > 4000 && count < 5000)
    }

    @Test func `messages are kept in order, bounded by number and by bytes`() async throws {
        let history = MessageHistory(activity: Activity())
        let peer = try PeerId(rawRepresentation: Array(repeating: 7, count: 32))
        let result = try await history.whileSending("hi", to: peer, in: nil, label: "Phone") { 5 }
        #expect(result.result == 5 && history.messages(with: peer, since: 0).map(\.state) == [.delivered])
        await #expect(throws: CancellationError.self) {
            _ = try await history.whileSending("no", to: peer, in: nil, label: nil) { throw CancellationError() }
        }
        #expect(history.messages(with: nil, since: 1).map(\.state) == [.failed])
        #expect(history.messages(with: nil, since: 1).first?.failure?.isEmpty == false)
        for _ in 0..<MessageHistory.limit { history.keep(MessageReport(peer: peer, payload: [1, 2, 3]), label: nil) }
        let kept = history.messages(with: nil, since: 0)
        #expect(kept.count == MessageHistory.limit && kept.first?.number == 3 && kept.first?.base64 == "AQID")
        let large = MessageReport(peer: peer, payload: Array(repeating: 255, count: 1 << 20))
        for _ in 0..<20 { history.keep(large, label: nil) }
        #expect(history.messages(with: nil, since: 0).reduce(0) { $0 + $1.bytes } <= MessageHistory.byteLimit)
        // No peer displaces the messages of another one.
        let other = PeerId(publicKey: generatePeerKey().publicKey)
        history.keep(MessageReport(peer: other, payload: [4]), label: nil)
        for _ in 0..<20 { history.keep(large, label: nil) }
        for _ in 0..<MessageHistory.limit { history.keep(MessageReport(peer: peer, payload: [5]), label: nil) }
        #expect(history.messages(with: other, since: 0).count == 1)
        #expect(history.messages(with: nil, since: 0).count == MessageHistory.limit)
    }

    @Test func `log lines are kept, found and counted, and a level applies immediately`() {
        let ring = LogRing(levels: (.notice, [.discovery: .debug]))
        var logger = Logger(label: "test") { RingLogHandler(label: $0, ring: ring) }
        logger[metadataKey: "subsystem"] = "storage"
        logger.info("unheard")
        ring.set(.info, in: .storage)
        logger.info("Heard", metadata: ["peer": "x"])
        logger.critical("loud")
        let lines = ring.lines(LogRing.Query()).lines
        #expect(lines.map(\.message) == ["Heard", "loud"] && lines.first?.metadata == ["peer": "x"])
        #expect(lines.first?.subsystem == "storage")
        #expect(ring.lines(LogRing.Query(level: .error)).lines.map(\.message) == ["loud"])
        #expect(ring.lines(LogRing.Query(search: "heard")).lines.map(\.message) == ["Heard"])
        #expect(ring.lines(LogRing.Query(subsystem: "discovery")).lines.isEmpty)
        let event = LogEvent(
            level: .critical,
            message: "more",
            metadata: nil,
            source: nil,
            file: #fileID,
            function: #function,
            line: #line
        )
        for _ in 0..<LogRing.limit { ring.keep(event, [:]) }
        let late = ring.lines(LogRing.Query(since: 1, limit: 3))
        #expect(late.lines.count == 3 && late.missed && late.next == 2002)
        let beyond = ring.lines(LogRing.Query(since: .max))
        #expect(beyond.lines.isEmpty && !beyond.missed)
        ring.set(.error, in: nil)
        #expect(ring.levels == LogRing.Levels(level: .error, subsystems: [:]))
    }
}
