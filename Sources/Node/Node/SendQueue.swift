internal import Concurrency

/// The control frames that wait to be written on a connection, bounded in bytes.
final class SendQueue: Sendable {
    /// The bytes that may wait; a peer that leaves more unread no longer reads.
    static let byteLimit = 16 << 20
    /// The waiting bytes beyond which the peer is crowded: publishers wait for it for a while.
    private static let highWater = 1 << 20
    /// The waiting bytes beyond which the peer is congested: it is only notified of events until it has caught up.
    private static let congestion = 4 << 20
    /// The waiting bytes with which the peer has caught up: enough to write until the next events are signed.
    private static let lowWater = 768 << 10

    let frames: AsyncStream<[UInt8]>
    private let queue: AsyncStream<[UInt8]>.Continuation
    private let counts = Locked(Counts())
    private let end = Promise<Void>()

    private struct Counts: Sendable {
        var waiting = 0
        var written = 0
    }

    init() {
        (frames, queue) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .unbounded)
    }

    /// Adds a frame; false when there is no room for it.
    func offer(_ frame: [UInt8]) -> Bool {
        let hasRoom = counts.withLock { counts in
            guard counts.waiting + frame.count <= Self.byteLimit else { return false }
            counts.waiting += frame.count
            return true
        }
        if hasRoom { queue.yield(frame) }
        return hasRoom
    }

    /// Makes room again after a frame was written; true when the peer has caught up with that.
    func noteWritten(_ frame: [UInt8]) -> Bool {
        counts.withLock { counts in
            let wasAbove = counts.waiting > Self.lowWater
            counts.waiting -= frame.count
            counts.written += frame.count
            return wasAbove && counts.waiting <= Self.lowWater
        }
    }

    /// The number of bytes that wait.
    var waitingBytes: Int { counts.withLock { $0.waiting } }

    /// Whether publishers wait for the peer.
    var isCrowded: Bool { waitingBytes > Self.highWater }

    /// Whether the peer can take no events.
    var isCongested: Bool { waitingBytes > Self.congestion }

    /// The number of bytes that were written so far.
    var writtenBytes: Int { counts.withLock { $0.written } }

    /// Returns when every frame has arrived after ``finish()``, when no further frame will, or when the caller is cancelled.
    func ended() async {
        try? await end.wait()  // cancelled: see above
    }

    /// Takes no further frames; those that wait are still written.
    func finish() { queue.finish() }

    /// Notes that every frame has arrived, or that the connection has ended and the waiting frames are lost.
    func noteEnd() {
        finish()
        end.fulfil(())
    }
}
