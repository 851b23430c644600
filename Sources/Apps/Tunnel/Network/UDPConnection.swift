internal import Identity
internal import Libc
internal import Platform

/// The address to which a UDP socket is connected.
enum UDPConnection {
    /// Forgets the former endpoint, and the address of this machine that led to it.
    static func end(_ descriptor: Int32) {
        var none = sockaddr()
        none.sa_family = sa_family_t(AF_UNSPEC)
        _ = unsafe Libc.connect(descriptor, &none, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Makes an address the only one of a socket; returns whether there is a route to it.
    static func make(_ descriptor: Int32, to endpoint: SocketAddress) -> Bool {
        func connect<Address>(_ address: Address) -> Bool {
            unsafe withUnsafePointer(to: address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Libc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
                }
            }
        }
        let bytes = endpoint.bytes
        guard endpoint.isIPv6 else {
            var address = sockaddr_in()
            address.setLength()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = endpoint.port.bigEndian
            unsafe withUnsafeMutableBytes(of: &address.sin_addr) { unsafe $0.copyBytes(from: bytes) }
            return connect(address)
        }
        var address = sockaddr_in6()
        address.setLength()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = endpoint.port.bigEndian
        address.sin6_scope_id = endpoint.scope
        unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
        return connect(address)
    }
}
