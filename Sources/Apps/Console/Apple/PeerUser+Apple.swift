#if canImport(Darwin)
internal import Darwin
internal import NIOCore

extension Channel {
    /// The user of the process at the other end of a Unix socket, as the kernel knows it.
    var peerUser: EventLoopFuture<UInt32> {
        guard let provider = self as? any SocketOptionProvider else {
            return eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        let credentials: EventLoopFuture<xucred> = provider.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: SOL_LOCAL),
            name: NIOBSDSocket.Option(rawValue: LOCAL_PEERCRED)
        )
        return credentials.map(\.cr_uid)
    }
}
#endif
