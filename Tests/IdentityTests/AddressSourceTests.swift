internal import Identity
internal import Testing

@Suite("Sources of addresses") struct AddressSourceTests {
    private func source(_ text: String) throws -> AddressSource { AddressSource(try #require(IPAddress(text))) }

    @Test func `a network elsewhere is one party`() throws {
        #expect(try source("203.0.113.77").party == IPAddress("203.0.113.0"))
        #expect(try source("2001:db8:1:2ff:3::4").party == IPAddress("2001:db8:1:2ff::"))
        #expect(try source("::ffff:203.0.113.77") == source("203.0.113.77"))
    }

    @Test func `on a machine, a link or a site each address is a party`() throws {
        for text in ["192.168.1.77", "10.0.0.7", "127.0.0.2", "169.254.3.4", "fd00::1:2", "fe80::1:2", "::1"] {
            let source = try source(text)
            #expect(source.isLocal && source.party == IPAddress(text))
        }
    }

    @Test func `devices of one network share its block`() throws {
        #expect(try source("192.168.1.77").block == source("192.168.1.78").block)
        #expect(try source("192.168.1.77").block != source("192.168.2.77").block)
        #expect(try source("fd00::1").block == source("fd00::2:2").block)
        #expect(try source("fd00::1").block != source("fd00:0:0:1::1").block)
    }

    @Test func `a link-local address counts on its interface`() throws {
        #expect(try source("fe80::1%2") != source("fe80::1%3"))
        #expect(try source("fe80::1%2").block != source("fe80::1%3").block)
        #expect(try source("2001:db8::1%2") == source("2001:db8::1"))
    }

    @Test func `a host is an IPv4 address or an IPv6 network`() throws {
        #expect(try source("203.0.113.77").host == IPAddress("203.0.113.77"))
        #expect(try source("fd00::1:2").host == IPAddress("fd00::"))
    }
}

@Suite("Places of sources") struct SourcePlacesTests {
    private func source(_ block: UInt64, _ address: UInt64) -> AddressSource {
        AddressSource(.v6(high: block << 48, low: address, scope: 0))
    }

    private func places(_ sources: [AddressSource]) -> SourcePlaces {
        var places = SourcePlaces()
        for source in sources { places.add(source) }
        return places
    }

    @Test func `the block with the most yields, and in it the address with the most`() {
        let places = places([source(1, 1), source(1, 2), source(1, 2), source(2, 1), source(2, 1)])
        #expect(places.yielding(to: source(3, 1)) == [source(1, 2)])
        #expect(places.count == 5)
    }

    @Test func `an address of the block with the most takes a place of that block`() {
        let places = places([source(1, 1), source(1, 2), source(1, 2), source(2, 1), source(2, 1)])
        #expect(places.yielding(to: source(1, 3)) == [source(1, 2)])
        #expect(places.yielding(to: source(1, 2)).isEmpty)
    }

    @Test func `an address without a place gets one of a block with as many, and no second one`() {
        let places = places([source(1, 1), source(2, 1), source(3, 1)])
        #expect(places.yielding(to: source(4, 1)) == [source(1, 1), source(2, 1), source(3, 1)])
        #expect(places.yielding(to: source(1, 2)) == places.yielding(to: source(4, 1)))
        #expect(places.yielding(to: source(1, 1)).isEmpty)
    }

    @Test func `a source that gave up its places counts no longer`() {
        var places = places([source(1, 1), source(1, 1), source(2, 1)])
        places.remove(source(1, 1))
        places.remove(source(1, 1))
        #expect(places.count == 1)
        #expect(places.yielding(to: source(3, 1)) == [source(2, 1)])
    }
}
