internal import Identity
internal import Libc

/// An address and port in the form of the system's calls.
struct SystemAddress {
    private var storage: sockaddr_storage
    private var length: socklen_t

    /// Room for an address that the system fills in.
    init() {
        storage = sockaddr_storage()
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    }

    init(_ address: SocketAddress) {
        self.init()
        let bytes = address.bytes
        if address.isIPv6 {
            var system = sockaddr_in6()
            system.setLength()
            system.sin6_family = sa_family_t(AF_INET6)
            system.sin6_port = address.port.bigEndian
            system.sin6_scope_id = address.scope
            unsafe withUnsafeMutableBytes(of: &system.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: system, as: sockaddr_in6.self) }
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        } else {
            var system = sockaddr_in()
            system.setLength()
            system.sin_family = sa_family_t(AF_INET)
            system.sin_port = address.port.bigEndian
            unsafe withUnsafeMutableBytes(of: &system.sin_addr) { unsafe $0.copyBytes(from: bytes) }
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: system, as: sockaddr_in.self) }
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
        }
    }

    /// Our form; nil when it is neither an IPv4 nor an IPv6 address.
    var socketAddress: SocketAddress? {
        unsafe withPointer { pointer, _ in unsafe Self.read(pointer) }
    }

    /// Reads an address that the system points to.
    static func read(_ pointer: UnsafePointer<sockaddr>?) -> SocketAddress? {
        guard let pointer = unsafe pointer else { return nil }
        let raw = unsafe UnsafeRawPointer(pointer)
        switch Int32(unsafe pointer.pointee.sa_family) {
        case AF_INET:
            var system = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            let bytes = unsafe withUnsafeBytes(of: &system.sin_addr) { unsafe [UInt8]($0) }
            return SocketAddress(bytes: bytes, port: UInt16(bigEndian: system.sin_port))
        case AF_INET6:
            var system = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
            var bytes = unsafe withUnsafeBytes(of: &system.sin6_addr) { unsafe [UInt8]($0) }
            var scope = system.sin6_scope_id
            if embedsScope, bytes[0] == 0xFE, bytes[1] & 0xC0 == 0x80 {
                if scope == 0 { scope = UInt32(bytes[2]) << 8 | UInt32(bytes[3]) }
                bytes[2] = 0
                bytes[3] = 0
            }
            return SocketAddress(bytes: bytes, port: UInt16(bigEndian: system.sin6_port), scope: scope)
        default:
            return nil
        }
    }

    /// Lends the address to a call that reads it.
    func withPointer<Outcome>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Outcome) -> Outcome {
        unsafe withUnsafePointer(to: storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    /// Lends the room to a call that fills it in.
    mutating func withMutablePointer<Outcome>(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Outcome
    ) -> Outcome {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        defer { self.length = length }
        return unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, &length) }
        }
    }
}
