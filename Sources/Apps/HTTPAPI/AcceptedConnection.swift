internal import Concurrency
internal import HummingbirdCore
internal import NIOCore

/// A connection that was accepted and waits to be served.
///
/// A server that stops drops the connections that still wait. A `NIOAsyncChannel` that is dropped unused traps, so
/// `deinit` uses an unserved one once, only to close it.
final class AcceptedConnection: ServerChildChannelValue {
    let channel: any Channel
    let ticket: OpenConnections.Ticket
    private let waiting: Locked<HTTP1Channel.Value?>

    init(_ asyncChannel: HTTP1Channel.Value, _ ticket: OpenConnections.Ticket) {
        channel = asyncChannel.channel
        self.ticket = ticket
        waiting = Locked(asyncChannel)
    }

    deinit {
        guard let dropped = take() else { return }
        Task { [ticket] in
            await Self.close(dropped)
            ticket.leave()
        }
    }

    /// Returns the channel to the task that serves it; nil when it was taken before.
    func take() -> HTTP1Channel.Value? {
        waiting.withLock { channel in
            defer { channel = nil }
            return channel
        }
    }

    private static func close(_ channel: HTTP1Channel.Value) async {
        try? await channel.executeThenClose { _, _ in }  // it may be closed already
    }
}
