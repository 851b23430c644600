internal import Concurrency
internal import Identity

/// The one thread behind a ``MulticastSocket``: it owns the sockets of all interfaces.
///
/// All state belongs to that thread after ``start()``, except `Sendable` constants; hence `@unchecked Sendable`.
final class MulticastLoop: @unchecked Sendable {
    /// A message from another thread.
    enum Submission: Sendable {
        case send([UInt8])
        case close
    }

    private typealias Key = GroupMemberships.Key

    private struct Submissions: Sendable {
        var outgoing: [[UInt8]] = []
        var isClosed = false
    }

    /// Datagrams that wait for a slow reader: a second's worth of a busy network.
    static let waitingDatagrams = 256
    /// Datagrams that wait to be sent; a node sends one per network every few seconds.
    private static let outgoingDatagrams = 64
    /// Interfaces that are joined, the likeliest first (``InterfaceRank``): each has two sockets.
    static let interfaceLimit = 32
    /// Datagrams read from one socket before others get their turn.
    private static let datagramsPerTurn = 32
    /// The pause in reading after a turn that left something over.
    ///
    /// It makes a flood the kernel's to drop: 6400 datagrams per second and socket are all that it gets of this thread.
    private static let restMilliseconds: Int32 = 5

    /// The names of the interfaces that are joined.
    let joinedNames = Locked<[String]>([])
    /// The names of the interfaces beyond the limit.
    let leftOutNames = Locked<[String]>([])
    private let configuration: MulticastSocket.Configuration
    private let events: NetworkEvents
    private let heard: AsyncStream<MulticastDatagram>.Continuation
    private let submissions = Locked(Submissions())
    /// Fulfilled once the thread has given everything back.
    private let end = Promise<Void>()

    private var memberships = GroupMemberships()
    private var schedule = ListingSchedule()
    private var addresses: AddressReports
    /// A buffer of one byte more than a datagram may have, to detect a longer one.
    private var buffer = [UInt8](repeating: 0, count: MulticastDatagram.byteLimit + 1)

    init(
        _ configuration: MulticastSocket.Configuration,
        events: NetworkEvents,
        heard: AsyncStream<MulticastDatagram>.Continuation,
        addresses: AsyncStream<[SocketAddress]>.Continuation
    ) {
        self.configuration = configuration
        self.events = events
        self.heard = heard
        self.addresses = AddressReports(to: addresses)
    }

    /// Starts the thread, which keeps the loop alive until it is closed.
    func start() throws(MulticastError) {
        list(at: .now)
        let status = SystemThread.start { self.run() }
        guard status != 0 else { return }
        throw .noThread(status)
    }

    /// Leaves a message for the thread.
    func post(_ submission: Submission) {
        submissions.withLock { submissions in
            switch submission {
            case .send(let bytes):
                guard !submissions.isClosed, submissions.outgoing.count < Self.outgoingDatagrams else { return }
                submissions.outgoing.append(bytes)
            case .close: submissions.isClosed = true
            }
        }
        events.wake()
    }

    /// Returns once the thread has given everything back.
    func ended() async {
        await end.waitIgnoringCancellation()
    }

    // MARK: The thread

    private func run() {
        var isFlooded = false
        while takeMail() {
            let (ready, hasChanged) = events.wait(
                for: isFlooded ? [] : memberships.sockets.map(\.socket.descriptor),
                milliseconds: schedule.patience(atMost: isFlooded ? Self.restMilliseconds : nil)
            )
            isFlooded = receive(ready)
            let now = ContinuousClock.now
            if hasChanged {
                addresses.noteChange()
                schedule.follow(changeAt: now)
            }
            if schedule.isDue(at: now) { list(at: now) }
        }
        memberships.removeAll()
        heard.finish()
        addresses.finish()
        end.fulfil(())
    }

    /// Sends the queued datagrams; returns false if the socket was closed.
    private func takeMail() -> Bool {
        let (outgoing, isClosed) = submissions.withLock { submissions in
            defer { submissions.outgoing = [] }
            return (submissions.outgoing, submissions.isClosed)
        }
        for bytes in outgoing { memberships.send(bytes) }
        return !isClosed
    }

    /// Gives each socket its turn; true when one of them may have more.
    private func receive(_ ready: [Bool]) -> Bool {
        var isFlooded = false
        for (entry, isReady) in zip(memberships.sockets, ready) where isReady {
            switch takeTurn(entry.socket) {
            case .empty: continue
            case .failed:
                memberships.remove(entry.key)
                schedule.retry(failedAt: .now)
            case .datagram, .ignored: isFlooded = true
            }
        }
        return isFlooded
    }

    /// Reads the datagrams of a socket, up to a limit, and returns the result of the last read.
    private func takeTurn(_ socket: InterfaceSocket) -> Reception {
        for _ in 0..<Self.datagramsPerTurn {
            let reception = socket.receive(into: &buffer)
            switch reception {
            case .datagram(let datagram): heard.yield(datagram)
            case .ignored: continue
            case .empty, .failed: return reception
            }
        }
        return .ignored
    }

    // MARK: Interfaces

    /// Joins the groups on new interfaces, leaves them on removed ones, and reports this machine's addresses.
    private func list(at now: ContinuousClock.Instant) {
        schedule.begin(at: now, systemReportsChanges: events.hasNews)
        guard let interfaces = configuration.interfaces() else { return schedule.retry(failedAt: now) }
        if !memberships.follow(keys(for: interfaces)) { schedule.retry(failedAt: now) }
        let joined = memberships.interfaces
        joinedNames.withLock { $0 = interfaces.filter { joined.contains($0.index) }.map(\.name) }
        addresses.report(OwnAddresses.dialable(bound: configuration.bound, interfaces: interfaces))
    }

    /// The keys of the required sockets, IPv6 before IPv4.
    ///
    /// Only a datagram over IPv6 shows its receiver the interface on which its link-local addresses are valid.
    private func keys(for interfaces: [NetworkInterface]) -> [Key] {
        let (useful, leftOut) = OwnAddresses.announcing(
            bound: configuration.bound,
            interfaces: interfaces,
            limit: Self.interfaceLimit,
            ranks: configuration.ranks
        )
        leftOutNames.withLock { $0 = leftOut.map(\.name) }
        return [configuration.groups.ipv6, configuration.groups.ipv4].flatMap { group -> [Key] in
            guard let group else { return [] }
            return useful.compactMap { interface in
                // The loopback interface carries IPv4 groups alone: the system has no route for the others there.
                guard !(group.isIPv6 && interface.isLoopback),
                    let source = interface.sourceAddress(isIPv6: group.isIPv6)
                else { return nil }
                return Key(interface: interface.index, name: interface.name, source: source, group: group)
            }
        }
    }
}
