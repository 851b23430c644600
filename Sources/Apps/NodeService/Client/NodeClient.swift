internal import CommandModel
internal import Concurrency
internal import HTTPAPI
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
package import NodeModel
internal import Platform

/// A client of the node that runs on a home, by HTTP over the socket in it.
///
/// A request has no time limit. Until the answer arrives, the client checks at regular intervals whether the node answers at
/// all.
package struct NodeClient: Sendable {
    /// The time before a check whether the node answers.
    package static let checkInterval = Duration.seconds(5)
    /// The time that a node has for a check.
    package static let patience = Duration.seconds(5)
    /// No route has this path: the refusal shows that the node answers.
    private static let checkPath = "\(NodeAPI.prefix)/alive"
    /// The event loop of all clients in the process, whose thread begins with the first request.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let home: String
    private let path: String
    private let checkInterval: Duration
    private let patience: Duration

    /// Returns nil if no node of this user answers in the home.
    package init?(
        home: String,
        checkInterval: Duration = Self.checkInterval,
        patience: Duration = Self.patience
    ) {
        self.home = home
        self.checkInterval = checkInterval
        self.patience = patience
        path = FilePath.joining(home, NodeSocket.name)
        guard let descriptor = connectedSocket() else { return nil }
        Posix.close(descriptor)
    }

    /// Sends the request and returns the node's answer.
    ///
    /// A task that is cancelled after the answer began ends when the node has ended the request, or a few seconds later: what
    /// the caller reports then is true.
    ///
    /// - Throws: ``CommandFailure`` of the node, or if it disconnects or does not answer; a ``CommandFailure`` of
    ///   `onUpdate`.
    package func perform<Answer>(
        _ request: APIRequest<Answer>,
        onUpdate: @escaping @Sendable (NodeUpdate) async throws -> Void = { _ in }
    ) async throws -> Answer {
        let hasBegun = Promise<Void>()
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask { try await exchange(request, onUpdate, hasBegun) }
            group.addTask {
                try await watch(until: hasBegun)
                return nil
            }
            defer { group.cancelAll() }
            while let answer = try await group.next() {
                if let answer { return answer }
            }
            throw CancellationError()
        }
    }

    /// Returns once the answer begins.
    ///
    /// - Throws: ``CommandFailure`` when the node answers nothing; `CancellationError`.
    private func watch(until hasBegun: Promise<Void>) async throws {
        while try await within(checkInterval, { try await hasBegun.wait() }) == nil {
            let isAnswering = try await within(patience) { try await self.isAnswering() } ?? false
            if !isAnswering, hasBegun.value == nil { throw silent }
        }
    }

    /// Whether the node answers at all; true for a node that has ended, which the request reports itself.
    private func isAnswering() async throws -> Bool {
        guard let descriptor = connectedSocket() else { return true }
        do {
            let channel = try await Self.channel(descriptor)
            try await channel.executeThenClose { inbound, outbound in
                try await Self.send(.get, Self.checkPath, nil, to: outbound)
                for try await _ in inbound { break }
            }
        } catch {
            try Task.checkCancellation()
        }
        return true
    }

    /// Returns the result of `body`, or nil after `limit`.
    ///
    /// Time asleep does not count.
    private func within<Success: Sendable>(
        _ limit: Duration,
        _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success? {
        try await withThrowingTaskGroup(of: Success?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit, clock: .suspending)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// The failure of a node that takes connections and answers none.
    private var silent: CommandFailure {
        var process: Int32?
        do throws(DataDirectoryError) {
            _ = try DataDirectory(at: home).lockForNode()
        } catch {
            if case .inUse(_, let holder) = error { process = holder }
        }
        guard let process else {
            return CommandFailure(
                "node-silent",
                .unavailable,
                "the running node does not answer: end its process, and start it again with `runar up`"
            )
        }
        return CommandFailure(
            "node-silent",
            .unavailable,
            "the running node (process \(process)) does not answer: end it with `kill \(process)`, or with"
                + " `kill -9 \(process)` if that does not help, and start it again with `runar up`"
        )
    }

    private func exchange<Answer>(
        _ request: APIRequest<Answer>,
        _ onUpdate: @escaping @Sendable (NodeUpdate) async throws -> Void,
        _ hasBegun: Promise<Void>
    ) async throws -> Answer {
        guard let descriptor = connectedSocket() else { throw Self.gone("has just stopped: `runar up` starts it") }
        // It keeps the connection open when a cancelled read closes its channel.
        let connection = DescriptorOwner(Posix.duplicate(descriptor))
        let channel = try await Self.channel(descriptor)
        let reader = AnswerReader<Answer>(onUpdate: onUpdate)
        do {
            return try await channel.executeThenClose { inbound, outbound in
                try await Self.send(request.method, request.target, request.body, to: outbound)
                return try await Self.read(inbound, reader) { hasBegun.fulfil(()) }
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            if Task.isCancelled, hasBegun.value != nil { await Self.end(connection) }
            try Task.checkCancellation()
            // A truncated answer is not malformed: the node went away while it wrote.
            let isMalformed = (error as? HTTPParserError).map { $0 != .invalidEOFState } ?? false
            throw isMalformed ? AnswerReader<Answer>.unknown : Self.gone(AnswerReader<Answer>.end)
        }
    }

    /// Ends the request of a cancelled task, and waits until the node has closed the connection, which it does afterwards.
    private static func end(_ connection: DescriptorOwner) async {
        let copy = Posix.duplicate(connection.descriptor)
        guard copy >= 0 else { return }  // The process has no descriptor left.
        do {
            let channel = try await ClientBootstrap(group: group).withConnectedSocket(copy).get()
            let limit = channel.eventLoop.scheduleTask(in: .nanoseconds(Int64(patience / .nanoseconds(1)))) {
                channel.close(promise: nil)
            }
            defer { limit.cancel() }
            try await channel.close(mode: .output).get()
            try await channel.closeFuture.get()
        } catch {
            // The node has closed it already.
        }
    }

    private func connectedSocket() -> Int32? {
        let descriptor = UnixSocket.make()
        guard descriptor >= 0, UnixSocket.connect(descriptor, to: path),
            UnixSocket.peerUser(of: descriptor) == Posix.user
        else {
            Posix.close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func channel(
        _ descriptor: Int32
    ) async throws -> NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart> {
        try await ClientBootstrap(group: group)
            .withConnectedSocket(descriptor) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
    }

    private static func send(
        _ method: Route.Method,
        _ target: String,
        _ body: [UInt8]?,
        to outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>
    ) async throws {
        var head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method.rawValue), uri: target)
        head.headers.add(name: "Host", value: "localhost")
        head.headers.add(name: "Connection", value: "close")
        if let body {
            head.headers.add(name: "Content-Type", value: "application/json")
            head.headers.add(name: "Content-Length", value: "\(body.count)")
        }
        var parts: [HTTPClientRequestPart] = [.head(head)]
        if let body { parts.append(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
        parts.append(.end(nil))
        // At once: a node that has answered closes the connection, and a later part could not be written.
        try await outbound.write(contentsOf: parts)
    }

    private static func read<Answer>(
        _ inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>,
        _ first: AnswerReader<Answer>,
        _ whenBegun: @Sendable () -> Void
    ) async throws -> Answer {
        var reader = first
        for try await part in inbound {
            switch part {
            case .head(let head):
                whenBegun()
                reader.begin(status: Int(head.status.code), isInLines: head.headers["Content-Type"].first == lineType)
            case .body(let bytes):
                if let answer = try await reader.take(Array(bytes.readableBytesView)) { return answer }
            case .end: return try reader.finish()
            }
        }
        throw gone(AnswerReader<Answer>.end)
    }

    private static let lineType = "application/x-ndjson"

    private static func gone(_ what: String) -> CommandFailure {
        CommandFailure("node-gone", .unavailable, "the running node \(what)")
    }
}
