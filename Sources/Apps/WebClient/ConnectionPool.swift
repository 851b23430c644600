internal import Concurrency
internal import NIOCore

/// The connections of a client: a bounded number of requests at the same time, and idle connections of each origin.
final class ConnectionPool: Sendable {
    /// Connections to the same origin are interchangeable.
    struct Origin: Hashable, Sendable {
        private let scheme: WebURL.Scheme
        private let host: WebURL.Host
        private let port: UInt16

        init(_ url: WebURL) { (scheme, host, port) = (url.scheme, url.host, url.port) }
    }

    private struct Idle {
        let number: UInt64
        let channel: any Channel
        let alarm: Scheduled<Void>
    }

    private struct State {
        var idle: [Origin: [Idle]] = [:]
        /// The channels of the requests, by their identity.
        var busy: [ObjectIdentifier: any Channel] = [:]
        var requestCount = 0
        var waiters: [Promise<Result<Void, WebClientError>>] = []
        var lastNumber: UInt64 = 0
        var isClosed = false
    }

    private let loop: any EventLoop
    private let requestLimit: Int
    private let idleLimit: Int
    private let idleTime: TimeAmount
    private let state = Locked(State())

    init(loop: any EventLoop, requestLimit: Int, idleLimit: Int, idleTime: TimeAmount) {
        self.loop = loop
        self.requestLimit = requestLimit
        self.idleLimit = idleLimit
        self.idleTime = idleTime
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Waits until fewer requests than the limit are under way, and counts another one until ``leave()``.
    func enter(until deadline: NIODeadline) async throws(WebClientError) {
        let turn = Promise<Result<Void, WebClientError>>()
        try state.withLock { (state) throws(WebClientError) in
            guard !state.isClosed else { throw .clientClosed }
            if state.requestCount < requestLimit {
                state.requestCount += 1
                turn.fulfil(.success(()))
            } else {
                state.waiters.append(turn)
            }
        }
        if let turn = turn.value { return try turn.get() }
        let alarm = loop.scheduleTask(deadline: deadline) { _ = turn.fulfil(.failure(.timedOut(.waiting))) }
        defer { alarm.cancel() }
        let result: Result<Void, WebClientError>
        do {
            result = try await turn.wait()
        } catch {
            // A turn that was given meanwhile passes to the next request.
            if !turn.fulfil(.failure(.cancelled)), case .success? = turn.value { leave() }
            result = .failure(.cancelled)
        }
        if case .failure = result { state.withLock { $0.waiters.removeAll { $0 === turn } } }
        try result.get()
    }

    /// Ends a request; the next one that waits begins.
    func leave() {
        state.withLock { state in
            while !state.waiters.isEmpty {
                // False for one that was cancelled, or has waited too long.
                if state.waiters.removeFirst().fulfil(.success(())) { return }
            }
            state.requestCount -= 1
        }
    }

    /// Returns an idle connection that the server has not closed.
    func take(_ origin: Origin) -> (any Channel)? {
        state.withLock { state in
            while let idle = state.idle[origin]?.popLast() {
                idle.alarm.cancel()
                if idle.channel.isActive { return idle.channel }
            }
            state.idle[origin] = nil
            return nil
        }
    }

    /// Marks the connection of a request, which ``close()`` ends.
    ///
    /// - Throws: ``WebClientError/clientClosed``.
    func begin(_ channel: any Channel) throws(WebClientError) {
        try state.withLock { (state) throws(WebClientError) in
            guard !state.isClosed else { throw .clientClosed }
            state.busy[ObjectIdentifier(channel)] = channel
        }
    }

    /// Ends the use of a connection, which is closed unless it can be used again.
    func end(_ channel: any Channel, _ origin: Origin, isReusable: Bool) {
        let isKept = state.withLock { state in
            state.busy[ObjectIdentifier(channel)] = nil
            let count = state.idle.values.reduce(0) { $0 + $1.count }
            guard isReusable, channel.isActive, !state.isClosed, count < idleLimit else { return false }
            state.lastNumber += 1
            let number = state.lastNumber
            let alarm: Scheduled<Void> = loop.scheduleTask(in: idleTime) {
                self.remove(origin) { $0.number == number }?.close(promise: nil)
            }
            state.idle[origin, default: []].append(Idle(number: number, channel: channel, alarm: alarm))
            return true
        }
        if !isKept { channel.close(promise: nil) }
    }

    /// Removes a connection from the idle ones when it ends.
    func watch(_ channel: any Channel, _ origin: Origin) {
        channel.closeFuture.whenComplete { _ in _ = self.remove(origin) { $0.channel === channel } }
    }

    /// Closes all connections; the requests under way fail.
    func close() {
        let (channels, waiters) = state.withLock { state in
            state.isClosed = true
            let idle = state.idle.values.flatMap { $0 }
            for connection in idle { connection.alarm.cancel() }
            defer { (state.idle, state.waiters) = ([:], []) }
            return (idle.map(\.channel) + state.busy.values, state.waiters)
        }
        for channel in channels { channel.close(promise: nil) }
        for waiter in waiters { waiter.fulfil(.failure(.clientClosed)) }
    }

    /// Removes an idle connection; nil if it is in use or was removed.
    private func remove(_ origin: Origin, where isWanted: (Idle) -> Bool) -> (any Channel)? {
        state.withLock { state in
            guard let index = state.idle[origin]?.firstIndex(where: isWanted) else { return nil }
            let idle = state.idle[origin]?.remove(at: index)
            if state.idle[origin]?.isEmpty == true { state.idle[origin] = nil }
            idle?.alarm.cancel()
            return idle?.channel
        }
    }
}
