internal import NodeCore

/// An event at one moment at one node, small enough to be moved about in a heap.
struct Event {
    /// The kind of an event; the other fields mean something else for each.
    enum Kind: UInt8 {
        /// A packet of control frames arrives: on the connection in `slot` of `stamp`, its frames in `payload`.
        case frame
        /// The acceptor learns of a connection.
        case acceptedUp
        /// The dialler learns of a connection that it dialled.
        case dialledUp
        /// A connection ends at this node; `payload` is its code, or ``noCode``.
        case down
        /// The first flight of the dial in `slot` reaches the node at the address, if one runs at it.
        case dialArrived
        /// The dial in `slot` fails at one address.
        case dialFailed
        /// The wake of the generation `stamp` is due.
        case wake
        /// A datagram arrives, its bytes in `payload`.
        case datagram
        /// The node starts, unless its generation is no longer `stamp`.
        case start
        /// The node stops: shuts down gracefully if `payload` is 0, vanishes otherwise.
        case stop
        /// The step of the scenario with the number `payload` is due.
        case step
        /// A request or a measurement of that step is due.
        case task
        /// The disk or the application answers the mailboxes of the generation `stamp`, with the input in `payload`.
        case mailAnswer
        /// A request about one-time keys arrives from the node `slot` at the generation `stamp`, its bytes in `payload`.
        case keyRequest
        /// The disk answers the exchanges of keys of the generation `stamp`, with the input in `payload`.
        case keysStored
    }

    static let noCode = UInt32.max

    /// Nanoseconds since the beginning.
    let time: Int64
    /// Events of one moment happen in the order in which they were scheduled; the lowest byte is the kind.
    private let orderAndKind: UInt64
    let node: UInt32
    let slot: UInt32
    let stamp: UInt32
    let payload: UInt32

    init(time: Int64, order: UInt64, kind: Kind, node: Int, slot: UInt32, stamp: UInt32, payload: UInt32) {
        self.time = time
        orderAndKind = order << 8 | UInt64(kind.rawValue)
        self.node = UInt32(truncatingIfNeeded: node)
        self.slot = slot
        self.stamp = stamp
        self.payload = payload
    }

    var kind: Kind {
        guard let kind = Kind(rawValue: UInt8(truncatingIfNeeded: orderAndKind)) else {
            preconditionFailure("an event of the unknown kind \(orderAndKind & 0xFF)")
        }
        return kind
    }

    /// The connection of an event that has one.
    var connection: ConnectionId { ConnectionId(slot: slot, stamp: stamp) }

    static func < (first: Event, second: Event) -> Bool {
        first.time != second.time ? first.time < second.time : first.orderAndKind < second.orderAndKind
    }
}

/// The virtual time and the future events.
///
/// A heap with four children per parent keeps the next event first; it is flat and so kind to caches.
struct EventQueue {
    /// Nanoseconds since the beginning.
    private(set) var now: Int64 = 0
    /// The number of events that were taken out.
    private(set) var takenCount = 0
    private var heap: [Event] = []
    private var lastOrder: UInt64 = 0

    /// Schedules an event after all others of its moment.
    mutating func schedule(
        _ kind: Event.Kind,
        at time: Int64,
        node: Int,
        slot: UInt32 = 0,
        stamp: UInt32 = 0,
        payload: UInt32 = 0
    ) {
        lastOrder += 1
        let event = Event(
            time: time,
            order: lastOrder,
            kind: kind,
            node: node,
            slot: slot,
            stamp: stamp,
            payload: payload
        )
        heap.append(event)
        rise(event)
    }

    /// Takes the next event out and moves the time to it; nil, at the time `end`, if none is left until then.
    mutating func next(until end: Int64) -> Event? {
        guard let first = heap.first, first.time <= end, let last = heap.popLast() else {
            now = end
            return nil
        }
        if !heap.isEmpty { sink(last) }
        now = first.time
        takenCount += 1
        return first
    }

    private mutating func rise(_ event: Event) {
        var position = heap.count - 1
        while position > 0 {
            let parent = (position - 1) / 4
            guard event < heap[parent] else { break }
            heap[position] = heap[parent]
            position = parent
        }
        heap[position] = event
    }

    private mutating func sink(_ event: Event) {
        var position = 0
        let count = heap.count
        while true {
            let first = position * 4 + 1
            guard first < count else { break }
            var least = first
            for child in (first + 1)..<max(first + 1, min(first + 4, count)) where heap[child] < heap[least] {
                least = child
            }
            guard heap[least] < event else { break }
            heap[position] = heap[least]
            position = least
        }
        heap[position] = event
    }
}
