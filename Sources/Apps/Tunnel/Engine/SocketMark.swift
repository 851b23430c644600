internal import Libc

/// The mark of a socket's datagrams, by which rules of the kernel recognise them (SO_MARK).
enum SocketMark {
    /// Linux's SO_MARK, which not every C library declares.
    private static let option: Int32 = 36

    /// The mark; nil where the system has none.
    static func value(of descriptor: Int32) -> UInt32? {
        var value: UInt32 = 0
        var length = socklen_t(MemoryLayout<UInt32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
    }

    /// Sets the mark, which needs CAP_NET_ADMIN; returns whether the kernel did.
    static func set(_ mark: UInt32, of descriptor: Int32) -> Bool {
        var value = mark
        return unsafe setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<UInt32>.size)) == 0
    }
}
