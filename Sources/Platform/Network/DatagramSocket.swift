internal import Identity
internal import Libc

/// A UDP socket that never blocks.
final class DatagramSocket: Sendable {
    let descriptor: Int32
    /// The address that the socket is bound to.
    let address: SocketAddress

    /// Binds a socket to `place`; one for IPv6 carries no IPv4.
    init(at place: SocketAddress) throws(DatagramError) {
        let family = place.isIPv6 ? AF_INET6 : AF_INET
        let descriptor = makeSocket(family, Int32(SOCK_DGRAM))
        guard descriptor >= 0 else { throw .notBound(place, errno) }
        var bound = SystemAddress()
        var only: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe !place.isIPv6 || setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only, size) == 0,
            unsafe SystemAddress(place).withPointer({ unsafe bind(descriptor, $0, $1) }) == 0,
            unsafe bound.withMutablePointer({ unsafe getsockname(descriptor, $0, $1) }) == 0,
            let address = bound.socketAddress
        else {
            let code = errno
            _ = close(descriptor)
            throw .notBound(place, code)
        }
        self.descriptor = descriptor
        self.address = address
    }

    deinit {
        _ = close(descriptor)
    }

    /// Sends a datagram; returns 0 or the system's error number.
    ///
    /// A full queue counts as sent and lost.
    func send(_ bytes: [UInt8], to place: SocketAddress) -> Int32 {
        guard SystemAddress(place).sendDatagram(bytes, from: descriptor) < 0 else { return 0 }
        return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? 0 : errno
    }

    /// Receives a datagram if one is available.
    func receive(into buffer: inout [UInt8]) -> DatagramReception {
        DatagramReception(from: descriptor, into: &buffer)
    }
}
