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
/// client that does not read its answer for ``writeTimeLimit`` is disconnected.
final class UAPIServer {
    /// The most concurrent connections.
    static let connectionLimit = 16
    /// The longest wait for a client to read its answer.
    static let writeTimeLimit: Duration = .seconds(5)

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
    private let stop: Int32

    /// Takes over `descriptor`, a listening or connected stream socket.
    ///
    /// `stop` ends ``run()`` when it is readable or closed by its writer; it remains the caller's.
    init(_ descriptor: Int32, stoppedBy stop: Int32, handler: any UAPIHandler) {
        let owner = DescriptorOwner(descriptor)
        self.handler = handler
        self.stop = stop
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

    /// Serves until the stop, or until the only connection is closed.
    func run() {
        while listener != nil || !connections.isEmpty {
            let accepts = connections.count < Self.connectionLimit
            let places = [stop, accepts ? listener?.descriptor ?? -1 : -1] + connections.map(\.owner.descriptor)
            // The kernel skips negative descriptors.
            var entries = places.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard unsafe poll(&entries, nfds_t(entries.count), -1) >= 0 || errno == EINTR else { return }
            guard entries[0].revents == 0 else { return }
            let ready = zip(connections, entries.dropFirst(2)).filter { $1.revents != 0 }.map(\.0)
            for connection in ready where !serve(connection) { connections.removeAll { $0 === connection } }
            if entries[1].revents != 0 { accept() }
        }
    }

    private func accept() {
        guard let listener else { return }
        let descriptor = Libc.accept(listener.descriptor, nil, nil)
        guard descriptor >= 0 else { return }
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
        connection.input += piece
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
