#if canImport(Darwin)
internal import Darwin

/// The kernel's notices of routes, interfaces and addresses, over a routing socket.
enum RouteNews {
    /// Opens a socket that never blocks and closes on execution; minus one where that is not allowed, as in a sandbox.
    static func open() -> Int32 {
        let descriptor = socket(PF_ROUTE, SOCK_RAW, 0)
        guard descriptor >= 0 else { return descriptor }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}
#endif
