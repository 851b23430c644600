#if os(Linux)
internal import CQUICShim
internal import Glibc
internal import Identity
internal import Testing

/// Sockets that another process opened, and marks for rules of routing.
@Suite("Adopted sockets", .timeLimit(.minutes(5))) struct SocketAdoptionTests {
    /// A socket of the C library, bound to a free port, of every address if not `isSeparate`, unless `isBound` is false.
    private func descriptor(
        isIPv6: Bool = false,
        isSeparate: Bool = true,
        type: __socket_type = SOCK_DGRAM,
        isBound: Bool = true
    ) throws -> Int32 {
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(type.rawValue), 0)
        try #require(descriptor >= 0)
        var separate: Int32 = isSeparate ? 1 : 0
        let size = socklen_t(MemoryLayout<Int32>.size)
        if isIPv6 {
            try #require(unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &separate, size) == 0)
        }
        if isBound { try #require(bindToLoopback(descriptor, isIPv6: isIPv6, isSeparate: isSeparate)) }
        return descriptor
    }

    private func bindToLoopback(_ descriptor: Int32, isIPv6: Bool, isSeparate: Bool) -> Bool {
        var place = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        place.sin6_family = sa_family_t(AF_INET6)
        if isSeparate { place.sin6_addr = in6addr_loopback }
        return unsafe withUnsafeMutableBytes(of: &place) { bytes in
            if !isIPv6 {
                var plain = sockaddr_in()
                plain.sin_family = sa_family_t(AF_INET)
                plain.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                unsafe bytes.storeBytes(of: plain, as: sockaddr_in.self)
                length = socklen_t(MemoryLayout<sockaddr_in>.size)
            }
            guard let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return false }
            return unsafe bind(descriptor, address, length) == 0
        }
    }

    @Test(arguments: [false, true]) func `an adopted socket sends and receives batches`(isIPv6: Bool) async throws {
        let adopted = try RawSocket(adopting: descriptor(isIPv6: isIPv6))
        let other = try RawSocket(on: isIPv6 ? "::1" : "127.0.0.1")
        #expect(adopted.address.port != 0)
        #expect(adopted.send([1, 1, 2, 2, 3], to: other.address, segment: 2))
        let sent = try await other.next(3)
        #expect(sent.map(\.bytes) == [[1, 1], [2, 2], [3]])
        #expect(sent.allSatisfy { $0.source == adopted.address })
        // The mark and the destination are reported only by a socket with the options of a bound one.
        #expect(other.send([7, 8], to: adopted.address, mark: 2))
        let received = try #require(try await adopted.next(1).first)
        #expect(received.bytes == [7, 8])
        #expect(received.mark == 2)
        #expect(received.destination == adopted.address)
    }

    @Test func `an adopted socket does not wait and closes on execution`() throws {
        let adopted = try RawSocket(adopting: descriptor())
        #expect(adopted.received() == [])
        #expect(fcntl(unsafe ru_udp_descriptor(adopted.raw), F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func `a socket that cannot be adopted stays the caller's`() throws {
        let refused = try [
            descriptor(isBound: false), descriptor(type: SOCK_STREAM), descriptor(isIPv6: true, isSeparate: false),
        ]
        for descriptor in refused {
            #expect(throws: RawSocket.Failure(code: EINVAL)) { try RawSocket(adopting: descriptor) }
            #expect(close(descriptor) == 0)
        }
        #expect(throws: RawSocket.Failure(code: EBADF)) { try RawSocket(adopting: -1) }
    }
}
#endif
