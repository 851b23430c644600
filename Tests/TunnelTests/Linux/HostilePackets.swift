#if os(Linux)
internal import Identity

@testable internal import Tunnel

/// Packets that no honest peer sends.
enum HostilePackets {
    /// A UDP datagram over IPv4 or IPv6; the checksum of UDP is computed for IPv6 alone, which requires it.
    static func udp(_ payload: [UInt8], from source: SocketAddress, to destination: SocketAddress) -> [UInt8] {
        let count = 8 + payload.count
        var udp = word(source.port) + word(destination.port) + word(UInt16(count)) + [0, 0] + payload
        guard source.isIPv6 else { return ipv4(udp, from: source.ip, to: destination.ip) }
        var sum = InternetChecksum()
        let pseudo = source.bytes + destination.bytes + [0, 0] + word(UInt16(count)) + [0, 0, 0, 17] + udp
        sum.add(pseudo, 0..<pseudo.count)
        udp.replaceSubrange(6..<8, with: word(sum.value == 0 ? 0xFFFF : sum.value))
        return ipv6(udp, from: source.ip, to: destination.ip)
    }

    /// An IPv4 packet with a right checksum of its header; `fragment` has the flags and the offset.
    static func ipv4(
        _ payload: [UInt8],
        from source: IPAddress,
        to destination: IPAddress,
        fragment: UInt16 = 0
    ) -> [UInt8] {
        var head: [UInt8] =
            [0x45, 0] + word(UInt16(20 + payload.count)) + [0x12, 0x34] + word(fragment) + [64, 17, 0, 0]
        head += source.bytes + destination.bytes
        var sum = InternetChecksum()
        sum.add(head, 0..<20)
        head.replaceSubrange(10..<12, with: word(sum.value))
        return head + payload
    }

    static func ipv6(_ payload: [UInt8], from source: IPAddress, to destination: IPAddress, next: UInt8 = 17) -> [UInt8]
    {
        [0x60, 0, 0, 0] + word(UInt16(payload.count)) + [next, 64] + source.bytes + destination.bytes + payload
    }

    /// Packets with a wrong version, length or header length, each made from a valid one; none is a whole IP packet.
    ///
    /// A packet that the padding of its transport message would complete is left out.
    static func unreadable(_ packet: [UInt8]) -> [[UInt8]] {
        let isIPv6 = packet[0] >> 4 == 6
        let counts = (1..<packet.count).filter { ($0 + 15) / 16 * 16 < packet.count }
        var packets = counts.map { Array(packet[..<$0]) }
        for version: UInt8 in [0, 1, 5, 7, 15] { packets.append([version << 4 | packet[0] & 0xF] + packet.dropFirst()) }
        var long = packet
        long.replaceSubrange(isIPv6 ? 4..<6 : 2..<4, with: word(.max))
        packets.append(long)
        if !isIPv6 {
            for length: UInt16 in [0, 1, 19] {
                var short = packet
                short.replaceSubrange(2..<4, with: word(length))
                packets.append(short)
            }
        }
        return packets
    }

    /// IPv4 fragments and headers, and chains of IPv6 headers, that a receiver must bound; all have readable addresses.
    static func odd(
        from source: (IPAddress, IPAddress),
        to destination: (IPAddress, IPAddress)
    ) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        let tcp: [UInt8] = [UInt8](repeating: 0, count: 12) + [0xF0, 0x10] + [UInt8](repeating: 0, count: 6)
        // Overlapping fragments, the last one that would end after 65,535 bytes, and one without an offset's unit.
        for fragment: UInt16 in [0x2000, 0x2001, 0x2000, 0x0001, 0x1FFF, 0x3FFF, 0x8000] {
            packets.append(ipv4(tcp, from: source.0, to: destination.0, fragment: fragment))
        }
        // The length of the header is 0 to 16 bytes, or ends after the packet; the protocol is TCP.
        for nibble: UInt8 in [0, 1, 4, 15] {
            var packet = ipv4(tcp, from: source.0, to: destination.0)
            (packet[0], packet[9]) = (0x40 | nibble, 6)
            packets.append(packet)
        }
        for next: UInt8 in [0, 43, 44, 51, 60, 135] {
            // Twenty extension headers, each naming the next one, before nothing.
            let chain = (0..<20).flatMap { _ in [next, 0, 1, 4, 0, 0, 0, 0] as [UInt8] }
            packets.append(ipv6(chain, from: source.1, to: destination.1, next: next))
            // One whose length ends after the packet.
            packets.append(ipv6([6, 255, 0, 0, 0, 0, 0, 0], from: source.1, to: destination.1, next: next))
        }
        packets.append(ipv6(tcp, from: source.1, to: destination.1, next: 6))
        packets.append(ipv6([], from: source.1, to: destination.1, next: 6))
        return packets
    }

    private static func word(_ word: UInt16) -> [UInt8] { [UInt8(word >> 8), UInt8(word & 0xFF)] }
}
#endif
