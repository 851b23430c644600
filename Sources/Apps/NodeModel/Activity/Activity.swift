internal import Bytes
internal import CommandModel
internal import Concurrency
internal import DequeModule
internal import Node
internal import Platform
internal import RunarNode

/// The log of everything that happens on a node, for the pages and programs that follow it.
///
/// Each line has a number, and the last ones are kept, so that a page that lost its connection for a while can catch up, and
/// is notified of missing lines.
package final class Activity: Sendable {
    /// Lines that are kept for reconnecting readers.
    static let lineLimit = 1000
    /// Samples that are kept, one for each second: plots are full at once.
    static let sampleLimit = 120
    /// Lines that wait for a slow reader, whose stream ends beyond that; it must connect again.
    private static let readerLimit = 4096

    private struct Entry: Sendable {
        let number: UInt64
        let bytes: [UInt8]
    }

    private struct State: Sendable {
        var number: UInt64 = 0
        var lines: Deque<Entry> = []
        var samples: Deque<Entry> = []
        /// The highest number of a line that was dropped, samples aside.
        var forgotten: UInt64 = 0
    }

    /// Another one after each start.
    let boot: String
    private let clock: NodeClock
    private let state = Locked(State())
    private let readers = Broadcaster<[UInt8]>(capacity: readerLimit, endsFullListeners: true)

    init(clock: NodeClock = .system()) {
        self.clock = clock
        var random = SystemRandom()
        boot = Hex.encode(random.bytes(count: 8))
    }

    /// Whether any reader follows.
    var isWatched: Bool { readers.listenerCount > 0 }

    /// Numbers a line, keeps it and sends it to all readers.
    package func tell(_ content: some ActivityContent) {
        state.withLock { state in
            state.number += 1
            let entry = Entry(number: state.number, bytes: line(content, number: state.number))
            if content is ActivitySample {
                state.samples.append(entry)
                if state.samples.count > Self.sampleLimit { state.samples.removeFirst() }
            } else {
                state.lines.append(entry)
                if state.lines.count > Self.lineLimit { state.forgotten = state.lines.removeFirst().number }
            }
            // Under the lock, so that lines reach the readers in order.
            readers.send(entry.bytes)
        }
    }

    /// Sends a keep-alive line to all readers.
    func tellAlive() {
        state.withLock { state in _ = readers.send(JSONText.bytes(ActivityAlive(seq: state.number))) }
    }

    /// Returns the lines after a number of this boot and, if `follows`, later ones as they are written.
    ///
    /// A reader that names no boot, or an earlier one, gets the samples that are kept and no earlier lines. The stream of a
    /// reader whose buffer is full ends; it connects again with the last number that it saw.
    package func lines(boot: String?, since: UInt64?, follows: Bool = true) -> AsyncStream<[UInt8]> {
        let (past, later) = state.withLock { state -> (Deque<[UInt8]>, AsyncStream<[UInt8]>?) in
            let isKnown = boot == nil || boot == self.boot
            // A new reader has no earlier lines to catch up with.
            let start = isKnown ? (boot == nil ? state.number : min(since ?? 0, state.number)) : state.number
            let hello = ActivityHello(boot: self.boot, seq: state.number, missed: !isKnown || start < state.forgotten)
            let seen = boot == nil || !isKnown ? 0 : start
            let entries = state.samples.filter { $0.number > seen } + state.lines.filter { $0.number > start }
            let past = [JSONText.bytes(hello)] + entries.sorted { $0.number < $1.number }.map(\.bytes)
            return (Deque(past), follows ? readers.listen() : nil)
        }
        let unread = Locked(past)
        return AsyncStream(unfolding: {
            if let line = unread.withLock({ $0.popFirst() }) { return line }
            guard let later else { return nil }
            for await line in later { return line }
            return nil
        })
    }

    /// Ends every reader: the node stops.
    func finish() { readers.finish() }

    private func line(_ content: some ActivityContent, number: UInt64) -> [UInt8] {
        JSONText.bytes(Joined(ActivityStamp(kind: type(of: content).kind, seq: number, at: now), content))
    }

    /// Milliseconds since 1970 by the clock of the node.
    var now: UInt64 { clock.wallMilliseconds() }
}
