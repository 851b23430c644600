internal import Concurrency
internal import Identity

/// The one thread behind a ``MulticastSocket``: it owns the sockets of all interfaces.
///
/// Everything in here belongs to that thread once ``start()`` was called, except what is `Sendable` and constant; hence
/// `@unchecked Sendable`.
final class MulticastLoop: @unchecked Sendable {
    /// What others want of the thread.
    enum Mail: Sendable {
        case send([UInt8])
        case close
    }

    private struct Mailbox: Sendable {
        var outgoing: [[UInt8]] = []
        var isClosed = false
    }

    /// What tells one socket from another; a change of any of it needs a new one.
    private struct Key: Hashable {
        let interface: UInt32
        let name: String
        let source: IPAddress
        let group: SocketAddress
    }

    /// Datagrams that wait for a slow reader: a second's worth of a busy network.
    static let waitingDatagrams = 256
    /// Datagrams that wait to be sent; a node sends one per network every few seconds.
    private static let outgoingDatagrams = 64
    /// Interfaces that are joined; more of them are bridges and pairs of containers.
    private static let interfaceLimit = 32
    /// Datagrams read from one socket before others get their turn.
    private static let datagramsPerTurn = 32
    /// How long nothing is read after a turn that left something over.
    ///
    /// It makes a flood the kernel's to drop: 6400 datagrams per second and socket are all that it gets of this thread.
    private static let restMilliseconds: Int32 = 5
    /// The least time between two listings, however often the interfaces change.
    private static let listingPause = Duration.milliseconds(100)
    /// When interfaces are listed again that refused, or where the system tells of no changes.
    private static let listingInterval = Duration.seconds(5)

    /// The names of the interfaces that are joined.
    let joinedNames = Locked<[String]>([])
    private let configuration: MulticastSocket.Configuration
    private let events: NetworkEvents
    private let heard: AsyncStream<MulticastDatagram>.Continuation
    private let addresses: AsyncStream<[SocketAddress]>.Continuation
    private let mailbox = Locked(Mailbox())
    /// Fulfilled once the thread has given everything back.
    private let end = Promise<Void>()

    private var sockets: [(key: Key, socket: InterfaceSocket)] = []
    private var lastAddresses: [SocketAddress]?
    /// Whether the system told of a change since the last listing; routes may have changed and no address.
    private var hasNews = false
    private var lastListing: ContinuousClock.Instant?
    private var nextListing: ContinuousClock.Instant?
    /// One byte more than a datagram may have, to tell one that is too long.
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
        self.addresses = addresses
    }

    /// Starts the thread, which keeps the loop alive until it is closed.
    func start() throws(MulticastError) {
        list(at: .now)
        let status = SystemThread.start { self.run() }
        guard status != 0 else { return }
        throw .noThread(status)
    }

    /// Leaves a message for the thread.
    func post(_ mail: Mail) {
        mailbox.withLock { mailbox in
            switch mail {
            case .send(let bytes):
                guard !mailbox.isClosed, mailbox.outgoing.count < Self.outgoingDatagrams else { return }
                mailbox.outgoing.append(bytes)
            case .close: mailbox.isClosed = true
            }
        }
        events.ring()
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
                for: isFlooded ? [] : sockets.map(\.socket.descriptor),
                milliseconds: patience(atMost: isFlooded ? Self.restMilliseconds : nil)
            )
            isFlooded = receive(ready)
            let now = ContinuousClock.now
            hasNews = hasNews || hasChanged
            if hasChanged { plan((lastListing ?? now) + Self.listingPause) }
            if let nextListing, nextListing <= now { list(at: now) }
        }
        sockets = []
        heard.finish()
        addresses.finish()
        end.fulfil(())
    }

    /// Sends what waits to be sent; false when it was the last.
    private func takeMail() -> Bool {
        let (outgoing, isClosed) = mailbox.withLock { mailbox in
            defer { mailbox.outgoing = [] }
            return (mailbox.outgoing, mailbox.isClosed)
        }
        for bytes in outgoing {
            for (_, socket) in sockets { socket.send(bytes) }
        }
        return !isClosed
    }

    /// Gives each socket its turn; true when one of them may have more.
    private func receive(_ ready: [Bool]) -> Bool {
        var isFlooded = false
        for (entry, isReady) in zip(sockets, ready) where isReady {
            switch takeTurn(entry.socket) {
            case .empty: continue
            case .failed:
                sockets.removeAll { $0.key == entry.key }
                // Not at once: a socket that breaks again and again must not keep the thread busy.
                plan(.now + Self.listingInterval)
            case .datagram, .ignored: isFlooded = true
            }
        }
        return isFlooded
    }

    /// Reads what a socket has, within bounds, and returns how the last read went.
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

    /// How long to wait for something to happen, in milliseconds; -1 for ever.
    private func patience(atMost bound: Int32?) -> Int32 {
        guard let nextListing else { return bound ?? -1 }
        let (seconds, attoseconds) = (nextListing - .now).components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return min(bound ?? .max, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
    }

    private func plan(_ moment: ContinuousClock.Instant) {
        nextListing = min(nextListing ?? moment, moment)
    }

    // MARK: Interfaces

    /// Joins where something is new, leaves where something went, and says which addresses we have now.
    private func list(at now: ContinuousClock.Instant) {
        lastListing = now
        nextListing = events.hasNews ? nil : now + Self.listingInterval
        guard let interfaces = configuration.interfaces() else { return plan(now + Self.listingInterval) }
        let wanted = keys(for: interfaces)
        sockets.removeAll { !wanted.contains($0.key) }
        var kept: [(key: Key, socket: InterfaceSocket)] = []
        for key in wanted {
            let socket =
                sockets.first { $0.key == key }?.socket
                ?? InterfaceSocket(group: key.group, interface: key.interface, source: key.source)
            if let socket { kept.append((key, socket)) } else { plan(now + Self.listingInterval) }
        }
        sockets = kept
        let joined = Set(kept.map(\.key.interface))
        joinedNames.withLock { $0 = interfaces.filter { joined.contains($0.index) }.map(\.name) }
        let dialable = OwnAddresses.dialable(bound: configuration.bound, interfaces: interfaces)
        guard dialable != lastAddresses || hasNews else { return }
        (lastAddresses, hasNews) = (dialable, false)
        addresses.yield(dialable)
    }

    /// The sockets that there should be, IPv6 before IPv4.
    ///
    /// In this order, because only a datagram that comes over IPv6 tells its hearer on which interface a link-local
    /// address in it is good.
    private func keys(for interfaces: [NetworkInterface]) -> [Key] {
        let useful = OwnAddresses.announcing(
            bound: configuration.bound,
            interfaces: interfaces,
            limit: Self.interfaceLimit
        )
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
