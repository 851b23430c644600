internal import Identity
internal import Libc

/// The addresses from which this machine reaches the internet.
enum Uplinks {
    /// Addresses of the root servers of the DNS; nothing is sent to them.
    private static let destinations = ["198.41.0.4", "2001:503:ba3e::2:30"].compactMap(IPAddress.init)
    /// The discard service; nothing is sent to it.
    private static let port: UInt16 = 9

    /// Returns the source addresses of the default routes, at most one for each family.
    ///
    /// Connecting a UDP socket only looks up the route.
    static func sourceAddresses() -> [IPAddress] {
        destinations.compactMap { destination in
            let descriptor = makeSocket(destination.isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_DGRAM))
            guard descriptor >= 0 else { return nil }
            defer { _ = close(descriptor) }
            let target = SystemAddress(SocketAddress(destination, port: port))
            guard unsafe target.withPointer({ unsafe connect(descriptor, $0, $1) }) == 0 else { return nil }
            var own = SystemAddress()
            guard unsafe own.withMutablePointer({ unsafe getsockname(descriptor, $0, $1) }) == 0 else { return nil }
            return own.socketAddress?.ip
        }
    }
}
