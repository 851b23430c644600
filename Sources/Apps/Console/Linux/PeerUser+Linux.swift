#if os(Linux)
internal import Glibc
internal import NIOCore

/// `struct ucred`, which the header hides from Swift.
private struct Credentials {
    var process: Int32
    var user: UInt32
    var group: UInt32
}

extension Channel {
    /// The user of the process at the other end of a Unix socket, as the kernel knows it.
    var peerUser: EventLoopFuture<UInt32> {
        guard let provider = self as? any SocketOptionProvider else {
            return eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        let credentials: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: SOL_SOCKET),
            name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        )
        return credentials.map(\.user)
    }
}
#endif
