internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// A channel of a Unix socket that is closed unless a process of `user` is at its other end.
struct UserChannel<Inner: ServerChildChannel>: ServerChildChannel {
    let inner: Inner
    let user: UInt32

    private struct ForeignUser: Error {}

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Inner.Value> {
        channel.peerUser
            .flatMapThrowing { if $0 != user { throw ForeignUser() } }
            .flatMap { inner.setup(channel: channel, logger: logger) }
            .flatMapErrorThrowing { error in
                channel.close(promise: nil)
                throw error
            }
    }

    func handle(value: Inner.Value, logger: Logger) async { await inner.handle(value: value, logger: logger) }
}
