internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// A channel of a Unix socket that is closed unless a process of `user` is at its other end.
struct UserChannel<Inner: ServerChildChannel>: ServerChildChannel {
    let inner: Inner
    let user: UInt32

    private struct ForeignUser: Error {}

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Inner.Value> {
        channel.peerUser.flatMap { peer in
            guard peer == user else {
                channel.close(promise: nil)
                return channel.eventLoop.makeFailedFuture(ForeignUser())
            }
            return inner.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Inner.Value, logger: Logger) async { await inner.handle(value: value, logger: logger) }
}
