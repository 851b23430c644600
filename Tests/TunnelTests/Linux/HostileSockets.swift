#if os(Linux)
internal import Glibc
internal import Identity

@testable internal import Tunnel

/// A raw socket that sends UDP datagrams over IPv4 from any source address.
final class SpoofingSocket: Sendable {
    private let descriptor: Int32

    /// Opens a socket in the namespace of the calling thread.
    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), Int32(IPPROTO_RAW))
        guard descriptor >= 0 else { throw PlainSocket.Failure(call: "socket", code: errno) }
    }

    deinit { close(descriptor) }

    /// Sends a datagram without a UDP checksum.
    func send(_ payload: [UInt8], from source: SocketAddress, to destination: SocketAddress) throws {
        let packet = HostilePackets.udp(payload, from: source, to: destination)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        unsafe withUnsafeMutableBytes(of: &address.sin_addr) { unsafe $0.copyBytes(from: destination.bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe packet.withUnsafeBytes { unsafe sendto(descriptor, $0.baseAddress, $0.count, 0, address, size) }
            }
        }
        guard count == packet.count else { throw PlainSocket.Failure(call: "sendto", code: errno) }
    }
}

/// The packets that an engine writes to an interface, before the kernel judges them.
final class PacketCapture: Sendable {
    /// Linux's ETH_P_ALL.
    private static let everything: UInt16 = 3
    /// The bytes of Linux's `sockaddr_ll`, which the module of the C library lacks, and the place of the packet's type.
    private static let addressByteCount = 20
    private static let typeOffset = 10
    /// Linux's PACKET_OUTGOING: a packet of the local machine.
    private static let outgoing: UInt8 = 4

    private let descriptor: Int32

    /// Captures the packets of an interface in the namespace of the calling thread.
    init(interface: String) throws {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_PACKET, kind, Int32(Self.everything.bigEndian))
        try Self.check(descriptor, "socket")
        try set(SO_RCVBUFFORCE, Int32(64 << 20))
        try set(SO_RCVTIMEO, timeval(tv_sec: 60, tv_usec: 0))
        var address = [UInt8](repeating: 0, count: Self.addressByteCount)
        unsafe address.withUnsafeMutableBytes { room in
            unsafe room.storeBytes(of: sa_family_t(AF_PACKET), as: sa_family_t.self)
            unsafe room.storeBytes(of: Self.everything.bigEndian, toByteOffset: 2, as: UInt16.self)
            unsafe room.storeBytes(of: if_nametoindex(interface), toByteOffset: 4, as: UInt32.self)
        }
        let status = unsafe address.withUnsafeBytes { room in
            unsafe bind(descriptor, room.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(room.count))
        }
        try Self.check(status, "bind")
    }

    deinit { close(descriptor) }

    /// Returns the packets from the engine up to the one that ends with `mark`, which is not included.
    func packets(until mark: [UInt8]) throws -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var room = [UInt8](repeating: 0, count: 65_600)
        var address = [UInt8](repeating: 0, count: Self.addressByteCount)
        while true {
            var size = socklen_t(address.count)
            let count = unsafe address.withUnsafeMutableBytes { address in
                unsafe room.withUnsafeMutableBytes { room in
                    let source = unsafe address.baseAddress?.assumingMemoryBound(to: sockaddr.self)
                    return unsafe recvfrom(descriptor, room.baseAddress, room.count, 0, source, &size)
                }
            }
            try Self.check(Int32(truncatingIfNeeded: count), "recvfrom")
            guard address[Self.typeOffset] != Self.outgoing else { continue }
            let packet = Array(room[..<count])
            guard packet.suffix(mark.count) != mark[...] else { return packets }
            packets.append(packet)
        }
    }

    private func set<Value: BitwiseCopyable>(_ option: Int32, _ value: Value) throws {
        var value = value
        let size = socklen_t(MemoryLayout<Value>.size)
        try Self.check(unsafe setsockopt(descriptor, SOL_SOCKET, option, &value, size), "setsockopt")
    }

    private static func check(_ status: Int32, _ call: String) throws {
        guard status < 0 else { return }
        throw PlainSocket.Failure(call: call, code: errno)
    }
}
#endif
