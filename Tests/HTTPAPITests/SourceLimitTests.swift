internal import HTTPAPI
internal import Identity
internal import Testing

@Suite("Limits of sources") struct SourceLimitTests {
    private static let rate = RateLimit(every: .seconds(1), atOnce: 3)

    private func count(_ limits: SourceLimits, _ address: IPAddress?, at now: Duration = .zero) -> Int {
        (0..<10).count { _ in limits.admit(address, at: now) }
    }

    @Test func `a source has a bucket of its own, which fills again`() {
        let limits = SourceLimits(Self.rate)
        #expect(count(limits, .v4(1)) == 3)
        #expect(count(limits, .v4(2)) == 3)
        #expect(count(limits, .v4(1), at: .seconds(2)) == 2)
    }

    @Test func `the addresses of one IPv6 subscriber share a bucket, and a mapped address is IPv4`() {
        let limits = SourceLimits(Self.rate)
        #expect(count(limits, .v6(high: 5, low: 1, scope: 0)) == 3)
        #expect(count(limits, .v6(high: 5, low: .max, scope: 2)) == 0)
        #expect(count(limits, .v6(high: 6, low: 1, scope: 0)) == 3)
        #expect(count(limits, .v4(0x0A00_0001)) == 3)
        #expect(count(limits, .v6(high: 0, low: 0xFFFF_0A00_0001, scope: 0)) == 0)
    }

    @Test func `without a rate, and without an address, all requests are admitted`() {
        #expect(count(SourceLimits(nil), .v4(1)) == 10)
        #expect(count(SourceLimits(Self.rate), nil) == 10)
    }
}
