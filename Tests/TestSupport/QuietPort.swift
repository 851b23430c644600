internal import Concurrency

/// Ports that must be known before a server is bound to them.
///
/// The system assigns none of them by itself, so nothing takes one that is free between two servers of a test.
package enum QuietPort {
    private static let last = Locked(UInt16.random(in: 20_000..<30_000))

    /// Returns a port that no other call in this process has returned.
    package static func next() -> UInt16 {
        last.withLock { port in
            port = port < 29_999 ? port + 1 : 20_000
            return port
        }
    }
}
