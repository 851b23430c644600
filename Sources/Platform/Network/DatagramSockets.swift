internal import Concurrency
package import Failures
package import Identity

/// UDP sockets for programs that speak something small; one thread reads them all.
///
/// A node's own protocols do not go through here: their socket belongs to the transport.
package final class DatagramSockets: Sendable {
    /// A datagram that arrived at one of the sockets; nothing about it is verified.
    package struct Datagram: Hashable, Sendable {
        package let bytes: [UInt8]
        package let source: SocketAddress
        /// The number of the socket, in the order in which they were opened.
        package let socket: Int
    }

    /// The most bytes of a datagram that are taken; of longer ones the rest is lost.
    package static let byteLimit = 2_048
    /// Datagrams that wait for a slow reader.
    private static let waitingDatagrams = 1_024
    /// Datagrams read from one socket before others get their turn.
    private static let datagramsPerTurn = 32

    /// The address that each socket is bound to, with the port that it got.
    package let addresses: [SocketAddress]
    /// The received datagrams, for one reader; bounded, later ones are dropped.
    ///
    /// Ends with ``close()``.
    package let datagrams: AsyncStream<Datagram>
    private let sockets: [DatagramSocket]
    private let events: NetworkEvents
    private let isClosed = Locked(false)

    /// Opens a socket at each of `places`; port 0 takes any that is free.
    package convenience init(at places: [SocketAddress]) throws(DatagramError) {
        var sockets: [DatagramSocket] = []
        for place in places { sockets.append(try DatagramSocket(at: place)) }
        try self.init(sockets)
    }

    /// Returns a port that is free at `place` at this moment.
    package static func freePort(at place: IPAddress) throws(DatagramError) -> UInt16 {
        try DatagramSocket(at: SocketAddress(place, port: 0)).address.port
    }

    private init(_ sockets: [DatagramSocket]) throws(DatagramError) {
        guard let events = NetworkEvents() else { throw .noDescriptors }
        let (datagrams, heard) = AsyncStream.makeStream(
            of: Datagram.self,
            bufferingPolicy: .bufferingOldest(Self.waitingDatagrams)
        )
        self.sockets = sockets
        self.events = events
        self.datagrams = datagrams
        addresses = sockets.map(\.address)
        let isClosed = isClosed
        let status = SystemThread.start {
            Self.read(sockets, events, until: { isClosed.withLock { $0 } }, into: heard)
            heard.finish()
        }
        guard status == 0 else { throw .noThread(status) }
    }

    deinit {
        close()
    }

    /// Ends ``datagrams``; the ports are freed when the last reference is released.
    package func close() {
        isClosed.withLock { $0 = true }
        events.wake()
    }

    /// Sends a datagram; a full queue of the system is loss.
    package func send(_ bytes: [UInt8], to place: SocketAddress, from socket: Int = 0) throws(DatagramError) {
        let status = sockets[socket].send(bytes, to: place)
        guard status == 0 else { throw .notSent(place, status) }
    }

    private static func read(
        _ sockets: [DatagramSocket],
        _ events: NetworkEvents,
        until isClosed: () -> Bool,
        into heard: AsyncStream<Datagram>.Continuation
    ) {
        var buffer = [UInt8](repeating: 0, count: byteLimit)
        var open = Array(sockets.enumerated())
        while !isClosed(), !open.isEmpty {
            let (ready, _) = events.wait(for: open.map(\.element.descriptor), milliseconds: -1)
            var broken: [Int] = []
            for ((number, socket), isReady) in zip(open, ready) where isReady {
                for _ in 0..<datagramsPerTurn {
                    let reception = socket.receive(into: &buffer)
                    guard case .datagram(let count, let source) = reception else {
                        if case .failed = reception { broken.append(number) }
                        break
                    }
                    heard.yield(Datagram(bytes: Array(buffer[..<count]), source: source, socket: number))
                }
            }
            open.removeAll { broken.contains($0.offset) }
        }
    }
}

/// Why UDP does not work.
package enum DatagramError: CodedError, Hashable, Sendable, CustomStringConvertible {
    /// No socket could be bound there, with the system's error number.
    case notBound(SocketAddress, Int32)
    /// A datagram could not be sent there, with the system's error number.
    case notSent(SocketAddress, Int32)
    /// The process has reached its limit of open descriptors.
    case noDescriptors
    /// The system refused a thread, with its error number.
    case noThread(Int32)

    package var description: String {
        switch self {
        case .notBound(let place, let code):
            "cannot listen on \(place): \(SystemErrors.text(of: code)); choose an address of this machine and"
                + " a free port"
        case .notSent(let place, let code): "cannot send to \(place): \(SystemErrors.text(of: code))"
        case .noDescriptors: "no more file descriptors; raise the limit (ulimit -n) or close something"
        case .noThread(let code): "the system refused a thread: \(SystemErrors.text(of: code))"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .notBound, .noDescriptors, .noThread: FailureCode("no-socket", .unknown, .unavailable)
        case .notSent: FailureCode("unreachable", .unknown, .unavailable)
        }
    }
}
