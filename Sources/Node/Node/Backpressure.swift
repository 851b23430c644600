internal import Concurrency
internal import NodeCore

/// The wait of publishers for peers that are slow to read.
///
/// Publishers wait until no peer is crowded, that is, has too many bytes unread. The progress of the crowded peers is
/// checked after ``patience``, again and again: publishers no longer wait for a peer that hardly read meanwhile.
struct Backpressure: Sendable {
    /// The time between two checks.
    static let patience = Duration.seconds(1)
    /// The bytes that a peer must read in that time; with fewer it is only notified of events, without their content.
    private static let leastProgress = 64 * 1024

    /// Fulfilled when publishers may continue; nil while none waits.
    private var room: Promise<Void>?
    /// The bytes that had been written to each crowded peer when the next check was planned.
    private var marks: [ConnectionId: Int] = [:]
    /// The number of the next check.
    private var check = 0

    /// Begins a wait, and returns its promise and the number of the first check; nil if no peer is crowded.
    mutating func begin(for connections: ConnectionTable) -> (room: Promise<Void>, check: Int)? {
        guard let check = planCheck(of: connections) else { return nil }
        let room = Promise<Void>()
        self.room = room
        return (room, check)
    }

    /// Ends a wait if no peer is crowded; otherwise plans another check and returns its number.
    mutating func review(_ connections: ConnectionTable) -> Int? {
        guard room != nil else { return nil }
        guard let check = planCheck(of: connections) else {
            end()
            return nil
        }
        return check
    }

    /// The crowded peers that hardly read before a check; nil when another check replaced it, or no publisher waits.
    func stalled(at check: Int, in connections: ConnectionTable) -> [ConnectionId]? {
        guard check == self.check, room != nil else { return nil }
        return marks.compactMap { id, mark -> ConnectionId? in
            guard let sendQueue = connections[id]?.sendQueue, sendQueue.isCrowded else { return nil }
            return sendQueue.writtenBytes - mark < Self.leastProgress ? id : nil
        }
    }

    /// Resumes the publishers, however slow peers are.
    mutating func end() {
        room?.fulfil(())
        room = nil
    }

    private mutating func planCheck(of connections: ConnectionTable) -> Int? {
        let crowded = connections.crowded
        guard !crowded.isEmpty else { return nil }
        marks = crowded
        check += 1
        return check
    }
}
