internal import Identity
internal import Services
internal import Testing

@Suite("Records of services") struct RecordTests {
    private var services = Services()
    private var now = Duration.seconds(100)
    private let limits = Services.Limits()

    /// Handles an input and returns its effects.
    private mutating func feed(_ input: Services.Input) -> [Services.Effect] {
        var effects: [Services.Effect] = []
        self.services.handle(input, at: NodeTime(monotonic: self.now, wallSeconds: 1_800_000_000), into: &effects)
        return effects
    }

    private static func offers(_ names: String...) -> [ServiceOffer] {
        names.map { ServiceOffer(path: $0, actions: [ActionOffer(name: "x")]) }
    }

    @Test mutating func `each service has a record as long as it is offered`() {
        let both: [Services.Effect] = [.record("a", isOffered: true), .record("b", isOffered: true)]
        #expect(self.feed(.offered(Self.offers("a", "b"))) == both)
        #expect(self.feed(.recordWritten("a", true)) == [.wake(at: self.now + self.limits.recordRenewal)])
        #expect(self.feed(.recordWritten("b", true)) == [])
        self.now += .seconds(10)
        #expect(self.feed(.offered(Self.offers("b"))) == [.record("a", isOffered: false)])
        #expect(self.feed(.recordWritten("a", true)) == [])
        #expect(self.feed(.recordWritten("a", true)) == [], "nothing was asked for")
        self.now += .seconds(10)
        #expect(self.feed(.offered(Self.offers("a", "b"))) == [.record("a", isOffered: true)])
    }

    @Test mutating func `a record is renewed, and tried again soon when that fails`() {
        _ = self.feed(.offered(Self.offers("a")))
        _ = self.feed(.recordWritten("a", true))
        self.now += self.limits.recordRenewal
        #expect(self.feed(.timeReached) == [.record("a", isOffered: true)])
        #expect(self.feed(.recordWritten("a", false)) == [.wake(at: self.now + self.limits.recordRetry)])
        self.now += self.limits.recordRetry - .nanoseconds(1)
        #expect(!self.feed(.timeReached).contains(.record("a", isOffered: true)))
        self.now += .nanoseconds(1)
        #expect(self.feed(.timeReached) == [.record("a", isOffered: true)])
    }

    @Test mutating func `what changes while a record is written is made good afterwards`() {
        _ = self.feed(.offered(Self.offers("a")))
        self.now += .seconds(1)
        #expect(self.feed(.offered([])) == [])
        #expect(self.feed(.recordWritten("a", true)) == [.record("a", isOffered: false)])
        self.now += .seconds(1)
        #expect(self.feed(.offered(Self.offers("a"))) == [])
        #expect(self.feed(.recordWritten("a", true)) == [.record("a", isOffered: true)])
    }

    @Test mutating func `a deletion that fails is tried again, a first write that fails and is not wanted is not`() {
        _ = self.feed(.offered(Self.offers("a")))
        _ = self.feed(.offered([]))
        #expect(self.feed(.recordWritten("a", false)) == [])

        _ = self.feed(.offered(Self.offers("b")))
        _ = self.feed(.recordWritten("b", true))
        self.now += .seconds(1)
        #expect(self.feed(.offered([])).contains(.record("b", isOffered: false)))
        _ = self.feed(.recordWritten("b", false))
        self.now += self.limits.recordRetry
        #expect(self.feed(.timeReached).contains(.record("b", isOffered: false)))
        #expect(self.feed(.recordWritten("b", true)) == [])
    }

    @Test mutating func `a pause writes no record anew`() {
        _ = self.feed(.offered(Self.offers("a")))
        _ = self.feed(.recordWritten("a", true))
        self.now += .seconds(1)
        let effects = self.feed(.offered([ServiceOffer(path: "a", isRunning: false)]))
        #expect(!effects.contains { if case .record = $0 { true } else { false } })
    }
}
