#if os(Linux)
internal import Glibc

/// The system calls of local sockets.
package enum UnixSocket {
    /// The longest path that fits an address.
    static let pathByteLimit = 107
    /// The number of bytes in an address before its path.
    private static let familyByteCount = MemoryLayout<sa_family_t>.size

    /// A new socket, closed when the process executes another program.
    static func make() -> Int32 { prepared(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)) }

    static func connect(_ descriptor: Int32, to path: String) -> Bool {
        unsafe withAddress(path) { address, length in unsafe Glibc.connect(descriptor, address, length) == 0 }
    }

    /// The user at the other end, as the kernel knows it.
    static func peerUser(of descriptor: Int32) -> UInt32? {
        // struct ucred: process, user, group; the header hides it from Swift.
        var credentials: [UInt32] = [0, 0, 0]
        var length = socklen_t(credentials.count * MemoryLayout<UInt32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return credentials[1]
    }

    /// Sends one datagram to the socket of that name; returns false if it is not accepted at once.
    ///
    /// A name that begins with @ is outside the file system.
    package static func sendDatagram(_ bytes: [UInt8], to path: String) -> Bool {
        let descriptor = prepared(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
        guard descriptor >= 0 else { return false }
        defer { Posix.close(descriptor) }
        return unsafe withAddress(path) { address, length in
            unsafe bytes.withUnsafeBytes {
                unsafe Glibc.sendto(
                    descriptor,
                    $0.baseAddress,
                    $0.count,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT),
                    address,
                    length
                ) == $0.count
            }
        }
    }

    private static func prepared(_ descriptor: Int32) -> Int32 {
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return descriptor
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Bool {
        var bytes = Array(path.utf8)
        guard bytes.count <= pathByteLimit else { return false }
        // A name outside the file system begins with a zero byte and is as long as the address says.
        let isAbstract = bytes.first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(isAbstract ? familyByteCount + bytes.count : MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
#endif
