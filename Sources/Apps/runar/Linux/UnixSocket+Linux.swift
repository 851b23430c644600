#if os(Linux)
internal import Glibc

/// The system calls of local sockets.
enum UnixSocket {
    /// The longest path that fits an address.
    static let pathByteLimit = 107

    /// A new socket, closed when the process executes another program.
    static func make() -> Int32 { prepared(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)) }

    static func bind(_ descriptor: Int32, to path: String) -> Bool {
        unsafe withAddress(path) { address, length in unsafe Glibc.bind(descriptor, address, length) == 0 }
    }

    static func connect(_ descriptor: Int32, to path: String) -> Bool {
        unsafe withAddress(path) { address, length in unsafe Glibc.connect(descriptor, address, length) == 0 }
    }

    static func accept(_ descriptor: Int32) -> Int32 { prepared(Glibc.accept(descriptor, nil, nil)) }

    /// The user at the other end, as the kernel knows it.
    static func peerUser(of descriptor: Int32) -> UInt32? {
        // struct ucred: process, user, group; the header hides it from Swift.
        var credentials: [UInt32] = [0, 0, 0]
        var length = socklen_t(credentials.count * MemoryLayout<UInt32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return credentials[1]
    }

    /// Sends without a signal when nobody reads any more; minus one is a failure.
    static func send(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    static func shutdown(_ descriptor: Int32) { _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

    private static func prepared(_ descriptor: Int32) -> Int32 {
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
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
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
#endif
