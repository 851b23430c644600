internal import Identity
internal import Testing

@Suite("Wall-clock times") struct UnixTimeTests {
    @Test func `a moment after now stays within the years that can be written`() {
        #expect(UnixTime.date(60, after: 1000) == UnixTime.date(1060))
        for (life, now): (UInt64, UInt64) in [(.max, 0), (.max, .max), (1, .max), (UnixTime.maximum, 1)] {
            #expect(UnixTime.date(life, after: now) == UnixTime.date(UnixTime.maximum))
        }
    }
}
