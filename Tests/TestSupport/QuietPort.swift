internal import Concurrency
internal import Libc

/// Ports that must be known before something is bound to them.
///
/// The system assigns none of them by itself, so nothing takes one that is free between two servers of a test.
package enum QuietPort {
    private static let last = Locked(UInt16.random(in: 20_000..<30_000))

    /// Returns a free port that no other call in this process has returned.
    package static func next() -> UInt16 {
        last.withLock { port in
            repeat { port = port < 29_999 ? port + 1 : 20_000 } while !isFree(port)
            return port
        }
    }

    /// Whether no socket has the port, for TCP or UDP at an IPv4 address.
    private static func isFree(_ port: UInt16) -> Bool {
        [Int32(SOCK_STREAM), Int32(SOCK_DGRAM)].allSatisfy { type in
            let descriptor = makeSocket(AF_INET, type)
            defer { _ = close(descriptor) }
            var place = sockaddr_in()
            place.setLength()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_port = port.bigEndian
            return unsafe withUnsafePointer(to: place) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            } == 0
        }
    }
}
