import Bytes
import Identity
import TestSupport
import Testing

@Suite("Socket address") struct SocketAddressTests {
    @Test(arguments: [
        ("192.0.2.1:4433", "192.0.2.1:4433"),
        ("0.0.0.0:0", "0.0.0.0:0"),
        ("255.255.255.255:65535", "255.255.255.255:65535"),
        ("[::]:1", "[::]:1"),
        ("[::1]:80", "[::1]:80"),
        ("[2001:DB8::1]:80", "[2001:db8::1]:80"),
        ("[2001:db8:0:0:1:0:0:1]:443", "[2001:db8::1:0:0:1]:443"),
        ("[2001:db8:0:1:1:1:1:1]:443", "[2001:db8:0:1:1:1:1:1]:443"),
        ("[2001:0:0:1:0:0:0:1]:443", "[2001:0:0:1::1]:443"),
        ("[1::]:443", "[1::]:443"),
        ("[1:2:3:4:5:6:7::]:443", "[1:2:3:4:5:6:7:0]:443"),
        ("[::2:3:4:5:6:7:8]:443", "[0:2:3:4:5:6:7:8]:443"),
        ("[::ffff:192.0.2.128]:443", "[::ffff:192.0.2.128]:443"),
        ("[64:ff9b::192.0.2.33]:443", "[64:ff9b::c000:221]:443"),
        ("[fe80::1%3]:4242", "[fe80::1%3]:4242"),
        ("[fe80::1%0]:4242", "[fe80::1]:4242"),
    ])
    func `an address is read and written in the form of RFC 5952`(text: String, canonical: String) throws {
        let address = try SocketAddress(parsing: text)
        #expect(address.description == canonical)
        #expect(try SocketAddress(parsing: canonical) == address)
        #expect(SocketAddress(bytes: address.bytes, port: address.port, scope: address.scope) == address)
    }

    @Test(arguments: [
        "", ":", "1.2.3.4", "1.2.3.4:", ":80", "1.2.3:80", "1.2.3.4.5:80", "1.2.3.256:80", "01.2.3.4:80", "1.2.3.4:080",
        "1.2.3.4:65536", "1.2.3.4:-1", "1.2.3.4:+1", "1.2.3.4: 80", " 1.2.3.4:80", "1.2.3.4:80 ", "::1:80", "[::1]",
        "[::1]80", "[1.2.3.4]:80", "[:::1]:80", "[1::2::3]:80", "[1:2:3:4:5:6:7:8:9]:80", "[1:2:3:4:5:6:7]:80",
        "[1:2:3:4:5:6:7:8::]:80", "[12345::]:80", "[g::]:80", "[::1%eth0]:80", "[::1%]:80", "[::1%4294967296]:80",
        "[1.2.3.4::]:80", "[::1.2.3]:80", "[:1]:80", "[1:]:80", "[]:80", "localhost:80", "1.2.3.4:8০",
    ])
    func `an invalid address is refused`(text: String) {
        #expect(throws: IdentityError.self) { try SocketAddress(parsing: text) }
        #expect(SocketAddress(text) == nil)
    }

    @Test func `addresses are classified by kind`() throws {
        func ip(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }
        for text in ["127.0.0.1", "127.255.0.1", "::1", "::ffff:127.0.0.1"] { #expect(try ip(text).isLoopback) }
        for text in ["128.0.0.1", "126.255.255.255", "::2"] { #expect(try !ip(text).isLoopback) }
        for text in ["10.1.2.3", "172.16.0.1", "172.31.9.9", "192.168.0.1", "100.64.0.1", "100.127.0.1", "fd00::1"] {
            #expect(try ip(text).isPrivate)
        }
        for text in ["11.0.0.1", "172.15.0.1", "172.32.0.1", "192.169.0.1", "100.63.0.1", "100.128.0.1", "fe00::1"] {
            #expect(try !ip(text).isPrivate)
        }
        for text in ["224.0.0.1", "239.255.42.98", "ff02::1"] {
            #expect(try ip(text).isMulticast)
            #expect(try !ip(text).isUnicast)
        }
        for text in ["169.254.1.1", "fe80::1", "febf::1"] { #expect(try ip(text).isLinkLocal) }
        for text in ["169.253.1.1", "fec0::1", "fe7f::1"] { #expect(try !ip(text).isLinkLocal) }
        for text in ["0.0.0.0", "::", "255.255.255.255"] { #expect(try !ip(text).isUnicast) }
        #expect(try !SocketAddress(parsing: "192.0.2.1:0").isDialable)
        #expect(try SocketAddress(parsing: "192.0.2.1:1").isDialable)
    }

    @Test func `the wire form leaves the scope behind`() throws {
        for (text, count) in [("192.0.2.1:4433", 7), ("[fe80::1%3]:4433", 19)] {
            let address = try SocketAddress(parsing: text)
            var writer = ByteWriter()
            address.write(to: &writer)
            #expect(writer.count == count)
            var reader = ByteReader(writer.bytes)
            #expect(try SocketAddress(reading: &reader) == SocketAddress(address.ip.withoutScope, port: 4433))
            try reader.finish()
        }
        var reader = ByteReader([5, 1, 2, 3, 4, 0, 80])
        #expect(throws: BytesError.self) { try SocketAddress(reading: &reader) }
    }

    @Test func `a mapped address is the IPv4 address`() throws {
        let mapped = try SocketAddress(parsing: "[::ffff:192.0.2.128]:443")
        #expect(mapped.unmapped.description == "192.0.2.128:443")
        #expect(mapped != mapped.unmapped)
    }

    @Test func `no text crashes the reader`() {
        neverCrash(onTexts: ["192.0.2.1:4433", "[2001:db8::192.0.2.1%12]:65535", "[::]:1"], rounds: 20_000) { text in
            let address = try SocketAddress(parsing: text)
            #expect(SocketAddress(address.description) == address)
        }
    }
}
