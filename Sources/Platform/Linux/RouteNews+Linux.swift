#if os(Linux)
internal import Glibc

/// The kernel's notices of links, addresses and routes, over netlink.
enum RouteNews {
    /// `struct sockaddr_nl`, which the C library's module leaves out.
    private struct NetlinkAddress {
        var family = UInt16(AF_NETLINK)
        var padding: UInt16 = 0
        var process: UInt32 = 0
        var groups: UInt32
    }

    // From the kernel's netlink.h and rtnetlink.h.
    private static let routing: Int32 = 0
    private static let linkGroup: UInt32 = 0x1
    private static let ipv4AddressGroup: UInt32 = 0x10
    private static let ipv6AddressGroup: UInt32 = 0x100
    private static let ipv4RouteGroup: UInt32 = 0x40
    private static let ipv6RouteGroup: UInt32 = 0x400

    /// Opens a socket that never blocks and closes on execution; minus one where that is not allowed.
    static func open() -> Int32 {
        let kind = Int32(SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_NETLINK, kind, routing)
        guard descriptor >= 0 else { return -1 }
        let address = NetlinkAddress(
            groups: linkGroup | ipv4AddressGroup | ipv6AddressGroup | ipv4RouteGroup | ipv6RouteGroup
        )
        let status = unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<NetlinkAddress>.size))
            }
        }
        if status == 0 { return descriptor }
        _ = close(descriptor)
        return -1
    }
}
#endif
