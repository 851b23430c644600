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

    /// Sends one datagram to the socket of that name; returns false if it is not accepted within `patience`.
    ///
    /// Blocks the thread while the queue of that socket is full, after a call of `whenFull`; on Apple's systems a full
    /// queue is a failure at once. On Linux a name that begins with @ is outside the file system.
    package static func sendDatagram(
        _ bytes: [UInt8],
        to path: String,
        waiting patience: Duration = .zero,
        whenFull: () -> Void = {}
    ) -> Bool {
        let descriptor = makeSocket(AF_UNIX, Int32(SOCK_DGRAM), isBlocking: true)
        guard descriptor >= 0 else { return false }
        defer { Posix.close(descriptor) }
        if send(bytes, from: descriptor, to: path, Int32(MSG_DONTWAIT)) { return true }
        guard errno == EAGAIN, patience > .zero, limitSending(descriptor, to: patience) else { return false }
        whenFull()
        while !send(bytes, from: descriptor, to: path, 0) {
            // A signal ends the wait early.
            guard errno == EINTR else { return false }
        }
        return true
    }

    private static func send(_ bytes: [UInt8], from descriptor: Int32, to path: String, _ flags: Int32) -> Bool {
        unsafe withAddress(path) { address, length in
            unsafe bytes.withUnsafeBytes {
                unsafe sendto(descriptor, $0.baseAddress, $0.count, noSignal | flags, address, length) == $0.count
            }
        }
    }

    /// Limits the time that a call waits to send.
    private static func limitSending(_ descriptor: Int32, to patience: Duration) -> Bool {
        let (seconds, attoseconds) = patience.components
        // Zero would be no limit.
        var limit = timeval(tv_sec: .init(seconds), tv_usec: .init(max(1, attoseconds / 1_000_000_000_000)))
        let length = socklen_t(MemoryLayout<timeval>.size)
        return unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, length) == 0
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
