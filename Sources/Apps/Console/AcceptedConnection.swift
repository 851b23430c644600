internal import Concurrency
internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// A connection that was accepted and waits to be served.
///
/// A server that stops drops the connections that still wait. A `NIOAsyncChannel` that is dropped unused traps, so
/// `deinit` uses an unserved one once, only to close it.
final class AcceptedConnection: ServerChildChannelValue {
    let channel: any Channel
    private let waiting: Locked<HTTP1Channel.Value?>

    fileprivate init(_ asyncChannel: HTTP1Channel.Value) {
        channel = asyncChannel.channel
        waiting = Locked(asyncChannel)
    }

    deinit {
        guard let dropped = take() else { return }
        Task { try? await dropped.executeThenClose { _, _ in } }  // it may be closed already
    }

    /// Returns the channel to the task that serves it; nil when it was taken before.
    fileprivate func take() -> HTTP1Channel.Value? {
        waiting.withLock { channel in
            defer { channel = nil }
            return channel
        }
    }
}

/// A channel whose connections may be dropped before they are served.
struct DroppableChannel<Inner: ServerChildChannel>: ServerChildChannel
where Inner.Value == HTTP1Channel.Value {
    let inner: Inner

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        inner.setup(channel: channel, logger: logger).map { AcceptedConnection($0) }
    }

    func handle(value: AcceptedConnection, logger: Logger) async {
        guard let channel = value.take() else { return }
        await inner.handle(value: channel, logger: logger)
    }
}
