package import Identity
internal import Libc

extension HostName {
    /// Resolves a name with the system's resolver, which may block; the addresses are in the order in which to try them.
    package static func addresses(of name: String) throws(HostNameError) -> [IPAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_DGRAM)
        unsafe hints.ai_flags = AI_ADDRCONFIG
        var head: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(name, nil, &hints, &head)
        guard status == 0 else {
            throw HostNameError(
                name: name,
                reason: unsafe gai_strerror(status).map { unsafe String(cString: $0) } ?? ""
            )
        }
        defer { unsafe freeaddrinfo(head) }
        var found: [IPAddress] = []
        var next = unsafe head
        while let entry = unsafe next, found.count < addressLimit {
            unsafe next = entry.pointee.ai_next
            let address = unsafe SystemAddress.read(entry.pointee.ai_addr)?.ip
            if let address, !found.contains(address) { found.append(address) }
        }
        return found
    }
}
