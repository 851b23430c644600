#if canImport(Darwin)
internal import Darwin

/// The system calls of local sockets.
package enum UnixSocket {
    /// The longest path that fits an address.
    static let pathByteLimit = 103

    /// Creates a socket that closes when the process executes another program, and that raises no SIGPIPE.
    static func make() -> Int32 { prepared(socket(AF_UNIX, SOCK_STREAM, 0)) }

    static func connect(_ descriptor: Int32, to path: String) -> Bool {
        unsafe withAddress(path) { address, length in unsafe Darwin.connect(descriptor, address, length) == 0 }
    }

    /// The user at the other end, as the kernel knows it.
    static func peerUser(of descriptor: Int32) -> UInt32? {
        var user = uid_t()
        var group = gid_t()
        guard unsafe getpeereid(descriptor, &user, &group) == 0 else { return nil }
        return user
    }

    /// Sends one datagram to the socket at that path; returns false if it is not accepted at once.
    package static func sendDatagram(_ bytes: [UInt8], to path: String) -> Bool {
        let descriptor = prepared(socket(AF_UNIX, SOCK_DGRAM, 0))
        guard descriptor >= 0 else { return false }
        defer { Posix.close(descriptor) }
        return unsafe withAddress(path) { address, length in
            unsafe bytes.withUnsafeBytes {
                unsafe Darwin.sendto(descriptor, $0.baseAddress, $0.count, MSG_DONTWAIT, address, length) == $0.count
            }
        }
    }

    private static func prepared(_ descriptor: Int32) -> Int32 {
        guard descriptor >= 0 else { return descriptor }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var on: Int32 = 1
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Bool {
        let bytes = Array(path.utf8)
        guard bytes.count <= pathByteLimit else { return false }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        address.sun_len = UInt8(MemoryLayout<sockaddr_un>.size)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
#endif
