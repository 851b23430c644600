internal import Concurrency
internal import Identity

/// The two ends of a connection.
enum WireSide: Int, Sendable {
    case dialler
    case acceptor

    /// The end across.
    var other: WireSide { self == .dialler ? .acceptor : .dialler }
}

/// The state of one end of a connection.
struct WireEnd {
    let peerId: PeerId
    let address: SocketAddress
    /// The reason for which the connection ended here; nil while it is open.
    var ending: TransportError?
    var streams: [Int: WireStream] = [:]
    var nextStream: Int
    var credit = SendCredit()
    var arrivals = StreamArrivals()
    /// The frames on their way to this end.
    var incoming = FrameQueue()

    let ended = ConditionVariable()
    let pathEvents: AsyncStream<PathEvent>
    let pathQueue: AsyncStream<PathEvent>.Continuation

    init(peerId: PeerId, address: SocketAddress, side: WireSide) {
        self.peerId = peerId
        self.address = address
        nextStream = side.rawValue
        (pathEvents, pathQueue) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }
}

/// The state of one stream at one end.
struct WireStream {
    /// The direction that this end writes.
    enum Sending {
        /// Goes to any of the others.
        case open
        /// The last byte is queued.
        case finished
        /// This end reset the stream with this code.
        case reset(UInt64)
        /// The other end stopped reading with this code.
        case stopped(UInt64)
    }

    /// The direction that this end reads.
    enum Receiving {
        /// Goes to any of the others.
        case open
        /// The last byte has arrived. Goes to `ended`, `reset` or `stopped`.
        case complete
        /// The reader has seen the end.
        case ended
        /// The other end reset the stream with this code.
        case reset(UInt64)
        /// This end stopped reading with this code.
        case stopped(UInt64)
    }

    let isOurs: Bool
    /// Whether the other end was notified of the stream.
    var isAnnounced: Bool
    var sending = Sending.open
    var receiving = Receiving.open
    /// The bytes that this end sent on the stream and the other end has not consumed.
    var unconsumed = 0
    var inbox = ByteQueue()
    var isReading = false
    var isWriting = false
    var isReportedDone = false
    /// The handler to call once further writes cannot arrive.
    var stopHandler: (@Sendable (TransportError) -> Void)?
    let reading = ConditionVariable()

    init(isOurs: Bool) {
        self.isOurs = isOurs
        isAnnounced = !isOurs
    }

    /// Whether nothing more can happen in either direction.
    var isDone: Bool {
        let isSendingDone = if case .open = sending { false } else { true }
        return switch receiving {
        case .open, .complete: false
        case .ended, .reset, .stopped: isSendingDone
        }
    }
}
