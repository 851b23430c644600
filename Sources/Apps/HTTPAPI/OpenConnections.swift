internal import Concurrency
internal import NIOCore

/// The connections of a server, each from its setup until nothing of it uses an event loop.
final class OpenConnections: Sendable {
    /// The entry of a connection.
    struct Ticket: Sendable {
        fileprivate let number: UInt64
        fileprivate let connections: OpenConnections

        /// Removes the entry; a second call has no effect.
        func leave() { connections.remove(number) }
    }

    private struct State {
        var channels: [UInt64: any Channel] = [:]
        var lastNumber: UInt64 = 0
        /// Fulfilled when the last entry is removed.
        var emptied: Promise<Void>?
    }

    private let state = Locked(State())

    func enter(_ channel: any Channel) -> Ticket {
        state.withLock { state in
            state.lastNumber += 1
            state.channels[state.lastNumber] = channel
            return Ticket(number: state.lastNumber, connections: self)
        }
    }

    /// The time in which a client that still sends can read the answer before the connection closes (RFC 9112, section
    /// 9.6): a socket that closes with bytes unread resets the connection, and the answer can be lost.
    private static let linger = TimeAmount.seconds(1)

    /// Closes the server's direction of a connection once the kernel has taken what was written, for at most `patience`,
    /// and then the connection.
    ///
    /// - Returns: A future of the first step.
    @discardableResult
    static func end(_ channel: any Channel, within patience: TimeAmount) -> EventLoopFuture<Void> {
        let end = channel.close(mode: .output)
        close(channel, in: patience)
        end.whenSuccess { close(channel, in: min(linger, patience)) }
        end.whenFailure { _ in channel.close(promise: nil) }
        return end
    }

    /// Closes a connection after a time, unless it is closed before.
    private static func close(_ channel: any Channel, in time: TimeAmount) {
        let alarm = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in alarm.cancel() }
    }

    /// Ends all connections, and waits until the kernel has taken what was written, or until the task is cancelled.
    func endAll(within patience: TimeAmount) async {
        let ends = state.withLock { Array($0.channels.values) }.map { Self.end($0, within: patience) }
        guard let loop = ends.first?.eventLoop else { return }
        let ended = Promise<Void>()
        EventLoopFuture.whenAllComplete(ends, on: loop).whenComplete { _ in ended.fulfil(()) }
        try? await ended.wait()  // the patience has ended
    }

    /// Closes the connections and waits until nothing of them uses an event loop; the server has stopped listening.
    func closeAll(on group: any EventLoopGroup) async {
        // A connection that was accepted last begins its setup in a task of its event loop, which precedes this one.
        for loop in group.makeIterator() {
            try? await loop.submit {}.get()  // the task cannot fail
        }
        let emptied = Promise<Void>()
        let channels = state.withLock { state in
            state.emptied = emptied
            return Array(state.channels.values)
        }
        guard !channels.isEmpty else { return }
        for channel in channels { channel.close(promise: nil) }
        await emptied.waitIgnoringCancellation()
    }

    private func remove(_ number: UInt64) {
        let emptied = state.withLock { state -> Promise<Void>? in
            state.channels[number] = nil
            return state.channels.isEmpty ? state.emptied : nil
        }
        emptied?.fulfil(())
    }
}
