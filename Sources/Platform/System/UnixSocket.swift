internal import Libc

/// The system calls of local sockets.
package enum UnixSocket {
    /// The most bytes of a path on every system; SwiftNIO takes no more on Linux either, where an address has 107.
    package static let pathByteLimit = 103
    /// The number of bytes in an address before its path.
    private static let familyByteCount = MemoryLayout<sa_family_t>.size

    /// Creates a socket that closes when the process executes another program.
    package static func make() -> Int32 { makeSocket(AF_UNIX, Int32(SOCK_STREAM), isBlocking: true) }

    package static func connect(_ descriptor: Int32, to path: String) -> Bool {
        unsafe withAddress(path) { address, length in unsafe Libc.connect(descriptor, address, length) == 0 }
    }

    /// The user at the other end, according to the kernel.
    package static func peerUser(of descriptor: Int32) -> UInt32? { Libc.peerUser(of: descriptor) }

    /// Sends one datagram to the socket of that name; returns false if it is not accepted at once.
    ///
    /// On Linux a name that begins with @ is outside the file system.
    package static func sendDatagram(_ bytes: [UInt8], to path: String) -> Bool {
        let descriptor = makeSocket(AF_UNIX, Int32(SOCK_DGRAM), isBlocking: true)
        guard descriptor >= 0 else { return false }
        defer { Posix.close(descriptor) }
        return unsafe withAddress(path) { address, length in
            unsafe bytes.withUnsafeBytes {
                unsafe sendto(
                    descriptor,
                    $0.baseAddress,
                    $0.count,
                    noSignal | Int32(MSG_DONTWAIT),
                    address,
                    length
                ) == $0.count
            }
        }
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        var bytes = Array(path.utf8)
        guard bytes.count <= pathByteLimit else { return false }
        // A name outside the file system begins with a zero byte, and its length is that of the address.
        let isAbstract = hasAbstractSockets && bytes.first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.setLength()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(isAbstract ? familyByteCount + bytes.count : MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
