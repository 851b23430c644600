#if os(Linux)
internal import Glibc

/// The events that a thread that reads sockets waits for: datagrams, a bell that other threads ring, and changes of the
/// interfaces.
///
/// Only ``ring()`` may be called by other threads.
@safe
final class NetworkEvents: @unchecked Sendable {
    private let bell: Int32
    private let clapper: Int32
    private let news: Int32
    private var waiting: [pollfd] = []

    /// Fails when the system has no more descriptors.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        bell = ends[0]
        clapper = ends[1]
        news = Self.openNews()
    }

    deinit {
        for descriptor in [bell, clapper, news] where descriptor >= 0 { _ = close(descriptor) }
    }

    /// Whether the system tells of interfaces that come, go and change; else they have to be listed now and then.
    var hasNews: Bool { news >= 0 }

    /// Ends a wait, the next one if there is none.
    func ring() {
        var byte: UInt8 = 0
        _ = unsafe write(clapper, &byte, 1)  // a full pipe rings as well
    }

    /// Waits until a datagram comes, the bell rings, the interfaces change or the time is over.
    ///
    /// - Returns: which of `descriptors` have something, and whether the interfaces may have changed.
    func wait(for descriptors: [Int32], milliseconds: Int32) -> (ready: [Bool], hasChanged: Bool) {
        waiting.removeAll(keepingCapacity: true)
        for descriptor in [bell, news] + descriptors {
            waiting.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }
        guard unsafe poll(&waiting, nfds_t(waiting.count), milliseconds) > 0 else {
            return (descriptors.map { _ in false }, false)
        }
        if waiting[0].revents != 0 { drain(bell) }
        let hasChanged = waiting[1].revents != 0
        if hasChanged { drain(news) }
        return (waiting.dropFirst(2).map { $0.revents != 0 }, hasChanged)
    }

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

    /// Listens to the kernel's notices of links, addresses and routes; -1 where that is not allowed.
    private static func openNews() -> Int32 {
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

    /// Throws away what is there: that there was something is all that matters, also when it was too much (ENOBUFS).
    private func drain(_ descriptor: Int32) {
        var scrap = [UInt8](repeating: 0, count: 8192)
        for _ in 0..<64 {
            let count = unsafe scrap.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EAGAIN { return }
        }
    }
}
#endif
