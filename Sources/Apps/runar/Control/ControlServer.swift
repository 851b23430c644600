internal import Concurrency
internal import Foundation
internal import Platform

/// Answers commands on `control.sock` in the home of a running node.
///
/// Only the user that runs the node is heard: the home is closed to others, and the kernel says who connects.
final class ControlServer: Sendable {
    static let socketName = "control.sock"
    /// Clients at a time: a few listeners and a few commands of a person.
    private static let clientLimit = 32
    /// Before a client is accepted that could not be.
    private static let retryMilliseconds: Int32 = 50

    private let path: String
    private let listener: DescriptorOwner
    private let handler: RequestHandler
    /// Its lock is held until the socket is gone.
    private let home: NodeHome
    private let clients = Locked(0)

    /// Binds the socket; call it only while holding the home's lock, since it takes the place of a dead node's socket.
    ///
    /// - Throws: ``CommandFailure``.
    init(home: NodeHome, handler: RequestHandler) throws(CommandFailure) {
        path = home.directory.file(Self.socketName)
        self.home = home
        self.handler = handler
        listener = DescriptorOwner(UnixSocket.make())
        guard path.utf8.count <= UnixSocket.pathByteLimit else {
            throw CommandFailure(
                "long-home",
                .configuration,
                "the path of the home is too long for a control socket (\(UnixSocket.pathByteLimit) bytes with its name):"
                    + " choose a shorter one with --home"
            )
        }
        Posix.unlink(path)
        guard listener.descriptor >= 0, UnixSocket.bind(listener.descriptor, to: path),
            Posix.setMode(0o600, of: path), Posix.listen(listener.descriptor)
        else {
            throw CommandFailure("no-control-socket", .cannotCreate, "cannot listen on \(path): \(Posix.lastErrorText)")
        }
    }

    /// Serves until the task is cancelled.
    func run() async {
        let (connections, continuation) = AsyncStream.makeStream(of: ControlConnection.self)
        let listener = self.listener
        let thread = Thread {
            while true {
                let descriptor = UnixSocket.accept(listener.descriptor)
                guard descriptor >= 0 else {
                    if UnixSocket.wasShutDown { return continuation.finish() }
                    // Without descriptors or memory for now: whoever connects waits for as long.
                    if !Posix.wasInterrupted { UnixSocket.waitForEnd(listener.descriptor, Self.retryMilliseconds) }
                    continue
                }
                guard UnixSocket.peerUser(of: descriptor) == Posix.user else {
                    Posix.close(descriptor)
                    continue
                }
                if case .terminated = continuation.yield(ControlConnection(descriptor: descriptor)) { return }
            }
        }
        thread.start()
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                for await connection in connections {
                    group.addTask { await self.admit(connection) }
                }
                group.cancelAll()
            }
        } onCancel: {
            UnixSocket.shutdown(listener.descriptor)
            continuation.finish()
        }
    }

    deinit { Posix.unlink(path) }

    private func admit(_ connection: ControlConnection) async {
        defer { connection.close() }
        let hasRoom = clients.withLock { count in
            count += 1
            return count <= Self.clientLimit
        }
        defer { clients.withLock { $0 -= 1 } }
        guard hasRoom else {
            let failure = CommandFailure(
                "busy",
                .tryAgain,
                "the node already serves \(Self.clientLimit) commands: end one and try again"
            )
            return await Self.reply(.failure(failure), on: connection)
        }
        await serve(connection)
    }

    private func serve(_ connection: ControlConnection) async {
        var frames = connection.frames.makeAsyncIterator()
        guard let frame = await frames.next() else {
            guard let rule = connection.brokenRule else { return }
            return await Self.reply(.failure(Self.failure(rule)), on: connection)
        }
        let request: ControlRequest
        do {
            request = try JSONText.decode(ControlRequest.self, from: frame)
        } catch {
            let failure = CommandFailure(
                "unknown-request",
                .software,
                "the running node does not know this request; it may be older than this command: restart it"
            )
            return await Self.reply(.failure(failure), on: connection)
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.handler.answer(request) { await Self.reply($0, on: connection) } }
            // The client says nothing more; when it goes away, its request is over.
            group.addTask { for await _ in connection.frames {} }
            await group.next()
            group.cancelAll()
        }
    }

    private static func reply(_ reply: ControlReply, on connection: ControlConnection) async {
        _ = await connection.write(JSONText.bytes(reply))  // a client that is gone is noticed by its reader
    }

    private static func failure(_ rule: ControlFrame.Failure) -> CommandFailure {
        switch rule {
        case .otherVersion(let found):
            CommandFailure(
                "other-version",
                .software,
                "the command speaks version \(found) of the control protocol and the node version"
                    + " \(ControlFrame.version): restart the node with this command's version"
            )
        case .tooLong(let count):
            CommandFailure("too-large", .data, "a request of \(count) bytes is too large: send it as a file")
        }
    }
}
