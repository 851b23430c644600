internal import Foundation

/// A UDP socket on 127.0.0.1 that never blocks.
final class LoopbackSocket: Sendable {
    struct Failure: Error {
        let call: String
        let code: Int32
    }

    let descriptor: Int32
    let port: UInt16

    init() throws {
        // SOCK_DGRAM has different types on different systems, and this value on all of them.
        let descriptor = socket(AF_INET, Self.datagrams, 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var size: Int32 = 4 << 20
        for option in [SO_RCVBUF, SO_SNDBUF] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard unsafe bind(descriptor, generic, length) == 0 else { return false }
                return unsafe getsockname(descriptor, generic, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        if !status {
            let code = errno
            Foundation.close(descriptor)
            throw Failure(call: "bind", code: code)
        }
    }

    deinit {
        Foundation.close(descriptor)
    }

    private static let datagrams: Int32 = 2

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Receives an available datagram, with its source port.
    func receive() -> (bytes: [UInt8], port: UInt16)? {
        var source = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var count = -1
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 2048) { buffer, used in
            let room = buffer.count
            let base = buffer.baseAddress
            count = unsafe withUnsafeMutablePointer(to: &source) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    unsafe recvfrom(descriptor, base, room, 0, generic, &length)
                }
            }
            used = max(0, count)
        }
        return count < 0 ? nil : (bytes, UInt16(bigEndian: source.sin_port))
    }

    /// Sends a datagram; one that the system does not accept is lost.
    func send(_ bytes: [UInt8], to port: UInt16) {
        var target = Self.address(port: port)
        unsafe withUnsafeMutablePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                _ = unsafe sendto(descriptor, bytes, bytes.count, 0, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
