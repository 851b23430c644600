internal import Identity

/// A question to another node that has not been answered yet.
struct Asked: Sendable {
    /// What the answer is for.
    enum Purpose: Sendable {
        /// A step of a lookup.
        case lookup(UInt32)
        /// A long value for a lookup that knows its head.
        case fetch(lookup: UInt32, writer: PeerId)
        /// A put that wants the holder to keep its record.
        case store(Kademlia.RequestId, RecordId)
        /// A conditional put that wants the holder to keep others off.
        case reserve(Kademlia.RequestId)
        /// Records that the peer may lack.
        case offer([Message.Digest])
        /// A record that the peer wants.
        case handOn(RecordId)
        /// Nothing but to be connected and known.
        case greeting

        /// Whether a late answer is still of use to whoever goes on without it.
        var toleratesLateness: Bool { if case .lookup = self { true } else { false } }
    }

    /// How late the answer is.
    enum Stage: Sendable {
        case inTime
        case slow
        case overdue
    }

    let peer: PeerId
    let purpose: Purpose
    /// Kept to be sent once more when the connection breaks.
    let bytes: [UInt8]
    let sentAt: Duration
    /// Whether there was a connection when it was sent; if not the answer takes a handshake longer.
    let wasConnected: Bool
    /// The time after which the answer is slow.
    let patience: Duration
    var wasRepeated = false
    var stage = Stage.inTime
    var wakeAt: Duration
}
