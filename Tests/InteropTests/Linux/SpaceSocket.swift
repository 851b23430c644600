#if os(Linux)
internal import Glibc
internal import Platform

/// A UDP socket over IPv4 in a network namespace, in which it remains whichever thread uses it.
final class SpaceSocket: Sendable {
    struct Failure: Error {
        let call: String
        let code: Int32
    }

    private let owner: DescriptorOwner
    /// The port that it is bound to.
    let port: UInt16

    /// Binds a socket in the network namespace of the calling thread, to a free port if `port` is 0.
    init(address: UInt32, port: UInt16 = 0) throws(Failure) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        owner = DescriptorOwner(descriptor)
        var place = Self.place(address, port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard status == 0 else { throw Failure(call: "bind", code: errno) }
        self.port = UInt16(bigEndian: place.sin_port)
    }

    private static func place(_ address: UInt32, _ port: UInt16) -> sockaddr_in {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        place.sin_addr.s_addr = address.bigEndian
        return place
    }

    /// Sends a datagram; one that the system does not accept is lost.
    func send(_ bytes: [UInt8], to address: UInt32, _ port: UInt16) {
        var place = Self.place(address, port)
        let descriptor = owner.descriptor
        unsafe withUnsafePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Waits for a datagram, at most that time.
    func receive(within time: Duration) -> (bytes: [UInt8], address: UInt32, port: UInt16)? {
        let (seconds, attoseconds) = time.components
        var entry = pollfd(fd: owner.descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
        guard unsafe poll(&entry, 1, max(0, milliseconds)) > 0 else { return nil }
        var source = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe withUnsafeMutablePointer(to: &source) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe recvfrom(entry.fd, &bytes, bytes.count, Int32(MSG_DONTWAIT), $0, &length)
            }
        }
        guard count >= 0 else { return nil }
        return (Array(bytes[..<count]), UInt32(bigEndian: source.sin_addr.s_addr), UInt16(bigEndian: source.sin_port))
    }
}
#endif
