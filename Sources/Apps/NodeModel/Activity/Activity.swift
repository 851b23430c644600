internal import Bytes
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
        var readers: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
        var nextReader = 0
    }

    /// Another one after each start.
    let boot: String
    private let clock: NodeClock
    private let state = Locked(State())

    init(clock: NodeClock = .system()) {
        self.clock = clock
        var random = SystemRandom()
        boot = Hex.encode(random.bytes(count: 8))
    }

    /// Whether any reader follows.
    var isWatched: Bool { state.withLock { !$0.readers.isEmpty } }

    /// Numbers a line, keeps it and sends it to all readers.
    package func tell(_ content: some ActivityContent) {
        let late = state.withLock { state in
            state.number += 1
            let entry = Entry(number: state.number, bytes: line(content, number: state.number))
            if content is ActivitySample {
                state.samples.append(entry)
                if state.samples.count > Self.sampleLimit { state.samples.removeFirst() }
            } else {
                state.lines.append(entry)
                if state.lines.count > Self.lineLimit { state.forgotten = state.lines.removeFirst().number }
            }
            return Self.tell(entry.bytes, in: &state)
        }
        for reader in late { reader.finish() }
    }

    /// Sends a keep-alive line to all readers.
    func tellAlive() {
        let late = state.withLock { state in
            Self.tell(JSONText.bytes(ActivityAlive(seq: state.number)), in: &state)
        }
        for reader in late { reader.finish() }
    }

    /// Returns the lines after a number of this boot and, if `follows`, later ones as they are written.
    ///
    /// A reader that names no boot, or an earlier one, gets the samples that are kept and no earlier lines.
    package func lines(boot: String?, since: UInt64?, follows: Bool = true) -> AsyncStream<[UInt8]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: .bufferingOldest(Self.readerLimit)
        )
        let reader: Int? = state.withLock { state in
            let isKnown = boot == nil || boot == self.boot
            // A new reader has no earlier lines to catch up with.
            let start = isKnown ? (boot == nil ? state.number : min(since ?? 0, state.number)) : state.number
            let hello = ActivityHello(boot: self.boot, seq: state.number, missed: !isKnown || start < state.forgotten)
            continuation.yield(JSONText.bytes(hello))
            let seen = boot == nil || !isKnown ? 0 : start
            let entries = state.samples.filter { $0.number > seen } + state.lines.filter { $0.number > start }
            for entry in entries.sorted(by: { $0.number < $1.number }) { continuation.yield(entry.bytes) }
            guard follows else { return nil }
            state.nextReader += 1
            state.readers[state.nextReader] = continuation
            return state.nextReader
        }
        guard let reader else {
            continuation.finish()
            return stream
        }
        // Readers are woken under the lock, so the end of one may not wait for it.
        continuation.onTermination = { [weak self] _ in
            Task { self?.state.withLock { _ = $0.readers.removeValue(forKey: reader) } }
        }
        return stream
    }

    /// Ends every reader: the node stops.
    func finish() {
        let readers = state.withLock { state in
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in readers { reader.finish() }
    }

    /// Returns the readers whose buffer is full: their streams end, and they connect again with the last number that they
    /// saw.
    private static func tell(_ bytes: [UInt8], in state: inout State) -> [AsyncStream<[UInt8]>.Continuation] {
        var late: [AsyncStream<[UInt8]>.Continuation] = []
        for (reader, continuation) in state.readers {
            if case .enqueued = continuation.yield(bytes) { continue }
            state.readers[reader] = nil
            late.append(continuation)
        }
        return late
    }

    private func line(_ content: some ActivityContent, number: UInt64) -> [UInt8] {
        JSONText.bytes(Joined(ActivityStamp(kind: type(of: content).kind, seq: number, at: now), content))
    }

    /// Milliseconds since 1970 by the clock of the node.
    var now: UInt64 { clock.wallMilliseconds() }
}
