internal import Libc
internal import NIOCore

extension Channel {
    /// The user of the process at the other end of a Unix socket, according to the kernel.
    var peerUser: EventLoopFuture<UInt32> {
        guard let provider = self as? any SocketOptionProvider else {
            return eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        let credentials: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: PeerCredentials.level),
            name: NIOBSDSocket.Option(rawValue: PeerCredentials.option)
        )
        return credentials.map(\.user)
    }
}
