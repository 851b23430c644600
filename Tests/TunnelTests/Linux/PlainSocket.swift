#if os(Linux)
internal import Glibc

/// A blocking socket of a test, which is closed with its last reference.
final class PlainSocket: Sendable {
    struct Failure: Error {
        var call: String
        var code: Int32
    }

    /// A wait for what arrives.
    static let patience = timeval(tv_sec: 60, tv_usec: 0)
    /// A wait for packets that must not arrive.
    static let shortPatience = timeval(tv_sec: 0, tv_usec: 200_000)
    let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Opens a socket in the namespace of the calling thread.
    init(isIPv6: Bool, isStream: Bool, patience: timeval = PlainSocket.patience) throws {
        let kind = Int32((isStream ? SOCK_STREAM : SOCK_DGRAM).rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
        try Self.check(descriptor, "socket")
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            var patience = patience
            let size = socklen_t(MemoryLayout<timeval>.size)
            try Self.check(unsafe setsockopt(descriptor, SOL_SOCKET, option, &patience, size), "setsockopt")
        }
    }

    deinit { close(descriptor) }

    func bind(_ address: String, _ port: UInt16) throws {
        try Self.check(try unsafe Self.with(address, port) { unsafe Glibc.bind(descriptor, $0, $1) }, "bind")
    }

    func connect(_ address: String, _ port: UInt16) throws {
        try Self.check(try unsafe Self.with(address, port) { unsafe Glibc.connect(descriptor, $0, $1) }, "connect")
    }

    func listen() throws { try Self.check(Glibc.listen(descriptor, 4), "listen") }

    func accept() throws -> PlainSocket {
        let accepted = Glibc.accept(descriptor, nil, nil)
        try Self.check(accepted, "accept")
        return PlainSocket(accepted)
    }

    func set(_ level: Int32, _ option: Int32, _ value: Int32) throws {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        try Self.check(unsafe setsockopt(descriptor, level, option, &value, size), "setsockopt")
    }

    /// Sends all bytes, or one datagram.
    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            try Self.check(Int32(truncatingIfNeeded: count), "send")
            rest = rest.dropFirst(count)
        }
    }

    /// Receives the next bytes, or one datagram; empty at the end.
    func receive() throws -> [UInt8] {
        var room = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe room.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        try Self.check(Int32(truncatingIfNeeded: count), "recv")
        return Array(room[..<count])
    }

    /// The address at the other end, as text.
    func peer() throws -> String {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: 64)
        let status = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe getpeername(descriptor, address, &size) == 0 else { return Int32(-1) }
                return unsafe getnameinfo(address, size, &text, 64, nil, 0, NI_NUMERICHOST)
            }
        }
        try Self.check(status == 0 ? 0 : -1, "getpeername")
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    private static func check(_ status: Int32, _ call: String) throws {
        guard status < 0 else { return }
        throw Failure(call: call, code: errno)
    }

    private static func with(
        _ text: String,
        _ port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        var storage = sockaddr_storage()
        let isIPv6 = text.contains(":")
        let size = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        let status = unsafe withUnsafeMutableBytes(of: &storage) { room in
            unsafe room.storeBytes(of: sa_family_t(isIPv6 ? AF_INET6 : AF_INET), as: sa_family_t.self)
            unsafe room.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
            let place = unsafe room.baseAddress?.advanced(by: isIPv6 ? 8 : 4)
            return unsafe inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, place)
        }
        guard status == 1 else { throw Failure(call: "inet_pton", code: EINVAL) }
        return unsafe withUnsafePointer(to: storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(size)) }
        }
    }
}
#endif
