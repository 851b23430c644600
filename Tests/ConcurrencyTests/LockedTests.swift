internal import Concurrency
internal import Testing

@Suite("Locked") struct LockedTests {
    @Test func `concurrent increments are all counted`() async {
        let counter = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 {
                        counter.withLock { $0 += 1 }
                    }
                }
            }
        }
        #expect(counter.withLock { $0 } == 8_000)
    }

    @Test func `the body's result is returned`() {
        let words = Locked(["one", "two"])
        #expect(words.withLock { $0.popLast() } == "two")
        #expect(words.withLock { $0 } == ["one"])
    }

    @Test func `an error leaves with its type and releases the lock`() {
        struct Refusal: Error {}
        let value = Locked(1)
        #expect(throws: Refusal.self) {
            try value.withLock { (number) throws(Refusal) in
                number = 2
                throw Refusal()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }

    @Test func `a value that is not Sendable can be guarded`() {
        final class Box { var text = "" }
        let guarded = Locked(Box())
        guarded.withLock { $0.text += "kept" }
        #expect(guarded.withLock { $0.text } == "kept")
    }
}
