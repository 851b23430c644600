internal import Identity
internal import Libc

extension NetworkInterface {
    /// Returns the interfaces of this machine by number; nil if the system call fails.
    package static func all() -> [NetworkInterface]? {
        var head: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&head) == 0 else { return nil }
        defer { unsafe freeifaddrs(head) }
        var found: [UInt32: NetworkInterface] = [:]
        var next = unsafe head
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            // An alias of an older kind, such as `eth0:1`, has the number of the interface itself.
            let index = unsafe if_nametoindex(entry.pointee.ifa_name)
            guard index != 0, let name = unsafe entry.pointee.ifa_name.map({ unsafe String(cString: $0) }) else {
                continue  // it was removed meanwhile
            }
            let flags = unsafe entry.pointee.ifa_flags
            func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
            let address = unsafe SystemAddress.read(entry.pointee.ifa_addr)
            var interface =
                found[index]
                ?? NetworkInterface(
                    name: name,
                    index: index,
                    isUp: has(Int(IFF_UP)) && has(Int(IFF_RUNNING)),
                    isLoopback: has(Int(IFF_LOOPBACK)),
                    isMulticast: has(Int(IFF_MULTICAST)),
                    isPointToPoint: has(Int(IFF_POINTOPOINT)),
                    addresses: []
                )
            if let address { interface.addresses.append(address.ip) }
            found[index] = interface
        }
        return found.values.sorted { $0.index < $1.index }
    }
}
