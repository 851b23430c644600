internal import Bytes
internal import Libc
internal import Platform

/// The device that a configuration server reads and changes.
protocol UAPIHandler: Sendable {
    /// Returns the whole state.
    func device() -> UAPIDevice

    /// Applies all changes, or none and throws.
    func apply(_ configuration: UAPIConfiguration) throws(UAPIRefusal)
}

/// Answers the configuration protocol on one thread: on a listening socket for any number of connections one after
/// another, or on a connected one until the other end closes it.
///
/// A listening socket serves up to ``connectionLimit`` connections at once; further ones wait in the kernel's queue. A
/// client that does not read its answer for ``writeTimeLimit`` is disconnected. A connection for which the process has no
/// descriptor or memory waits for the ``acceptPause``, and the others are served meanwhile.
final class UAPIServer {
    /// The most concurrent connections.
    static let connectionLimit = 16
    /// The longest wait for a client to read its answer.
    static let writeTimeLimit: Duration = .seconds(5)
    /// The pause before the next attempt to accept a connection that lacked a descriptor or memory.
    static let acceptPause: Duration = .seconds(1)
    /// The shortages that end when another connection or file is closed.
    private static let shortages: Set = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    /// One connection and the bytes of its incomplete request.
    private final class Connection {
        let owner: DescriptorOwner
        var input: [UInt8] = []

        init(_ owner: DescriptorOwner) {
            self.owner = owner
        }

        deinit { input.wipe() }
    }

    private let handler: any UAPIHandler
    private let listener: DescriptorOwner?
    private var connections: [Connection]
    private let stops: [Int32]
    private let acceptPause: Duration
    private let accept: (Int32) -> Int32
    /// The time from which connections are accepted, which a shortage moves.
    private var acceptsFrom = ContinuousClock.now

    /// Takes over `descriptor`, a listening or connected stream socket.
    ///
    /// - Parameters:
    ///   - descriptor: The socket.
    ///   - stops: Descriptors that end ``run()`` when one is readable or closed by its writer; they remain the caller's.
    ///   - handler: The device.
    ///   - acceptPause: The pause after a shortage.
    ///   - accept: The function in place of ``accept(_:)``.
    init(
        _ descriptor: Int32,
        stoppedBy stops: [Int32],
        handler: any UAPIHandler,
        acceptPause: Duration = UAPIServer.acceptPause,
        accept: @escaping (Int32) -> Int32 = UAPIServer.accept
    ) {
        let owner = DescriptorOwner(descriptor)
        self.handler = handler
        self.stops = stops
        self.acceptPause = acceptPause
        self.accept = accept
        let isListening = Self.isListening(descriptor)
        listener = isListening ? owner : nil
        connections = isListening ? [] : [Connection(owner)]
    }

    /// Whether a socket accepts connections.
    static func isListening(_ descriptor: Int32) -> Bool {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value != 0
    }

    /// Accepts a connection, and returns its descriptor or the negated error number.
    static func accept(_ listener: Int32) -> Int32 {
        let descriptor = Libc.accept(listener, nil, nil)
        return descriptor < 0 ? -errno : descriptor
    }

    /// Serves until a stop, or until the only connection is closed.
    func run() {
        while listener != nil || !connections.isEmpty {
            let pause = ContinuousClock.now.duration(to: acceptsFrom)
            let accepts = pause <= .zero && connections.count < Self.connectionLimit
            let places = stops + [accepts ? listener?.descriptor ?? -1 : -1] + connections.map(\.owner.descriptor)
            // The kernel skips negative descriptors.
            var wait = EngineWait(places)
            wait.wait(atMost: pause > .zero ? pause : nil)
            guard !stops.indices.contains(where: wait.isReady) else { return }
            let ready = connections.enumerated().filter { wait.isReady(stops.count + 1 + $0.offset) }.map(\.element)
            for connection in ready where !serve(connection) { connections.removeAll { $0 === connection } }
            if wait.isReady(stops.count) { acceptNext() }
        }
    }

    private func acceptNext() {
        guard let listener else { return }
        let descriptor = accept(listener.descriptor)
        guard descriptor >= 0 else {
            // The connection that waits keeps the listener readable, so an attempt at once would fail again.
            if Self.shortages.contains(-descriptor) { acceptsFrom = .now + acceptPause }
            return
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        connections.append(Connection(DescriptorOwner(descriptor)))
    }

    /// Reads once and answers the complete requests; false if the connection ends.
    private func serve(_ connection: Connection) -> Bool {
        let descriptor = connection.owner.descriptor
        var piece = Posix.read(descriptor, atMost: 64 << 10)
        defer { piece.wipe() }
        guard !piece.isEmpty, connection.input.count + piece.count <= UAPIRequest.byteLimit else { return false }
        var searched = connection.input.count
        connection.input.append(secret: piece)
        while let count = UAPIRequest.byteCount(in: connection.input, searchedBefore: searched) {
            var request = [UInt8](connection.input[..<count])
            var rest = [UInt8](connection.input[count...])
            connection.input.wipe()
            swap(&connection.input, &rest)
            defer { request.wipe() }
            guard var answer = answer(to: request)?.bytes else { return false }
            defer { answer.wipe() }
            let stream = UAPIStream(descriptor, until: .now + Self.writeTimeLimit)
            guard (try? stream.write(answer)) != nil else { return false }  // the client has gone
            searched = 0
        }
        return true
    }

    /// The answer to a whole request; nil if it closes the connection.
    private func answer(to request: [UInt8]) -> UAPIAnswer? {
        do throws(UAPIRefusal) {
            switch try UAPIRequest(request) {
            case .get: return .device(handler.device())
            case .set(let configuration):
                try handler.apply(configuration)
                return .done
            case nil: return nil
            }
        } catch {
            return .refused(error)
        }
    }
}
