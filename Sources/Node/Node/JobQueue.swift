internal import Concurrency
internal import Identity
internal import NodeCore
internal import Transport

/// Work that ``NodeDriver/run()`` performs, each piece in a task of its own.
enum Job: Sendable {
    case dial(PeerId, [SocketAddress])
    case dialPath(PeerId, SocketAddress, port: UInt16?)
    case openPorts(Int)
    case followAddresses(any DiscoveryLink)
    case wake(at: Duration, generation: Int)
    case serve(ConnectionId, any Connection, SendQueue, Inbox)
    case drain(ConnectionId)
    case linger(ConnectionId)
    case discover(any DiscoveryLink)
    /// Reports to the core whether a connection can take events at the moment.
    case reportCongestion(ConnectionId)
    /// Checks the progress of the peers that publishers wait for.
    case checkRoom(Int)
    /// Repeats the writes that failed, after a pause.
    case storeAgain(after: Duration)
    /// Confirms that jobs are performed.
    case answer(Promise<Bool>)
}

/// The work for ``NodeDriver/run()``, in order.
///
/// Adding a job never blocks.
struct JobQueue: Sendable {
    /// The jobs, for one reader.
    let stream: AsyncStream<Job>
    private let queue: AsyncStream<Job>.Continuation

    init() {
        (stream, queue) = AsyncStream.makeStream(of: Job.self, bufferingPolicy: .unbounded)
    }

    func add(_ job: Job) { queue.yield(job) }

    /// Takes no further jobs; those that were added are still performed.
    func finish() { queue.finish() }
}
