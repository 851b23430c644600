internal import SlotStore
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import NodeStore

@Suite("A state store whose process is killed") struct CrashTests {
    @Test func `killing the writer at random points loses nothing acknowledged`() throws {
        let scratch = try TemporaryDirectory()
        let path = scratch.file("state.sqlite")
        try NodeStore(path: path).database.close()
        var random = SplitMix64(seed: 5)
        var next: UInt64 = 0
        var kills = 0
        while next < 1_000 {
            let writer = try ChildProcess("CrashWriter", arguments: ["store", path, "\(next)"])
            var acknowledged: UInt64?
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                acknowledged = writer.nextLine().flatMap { UInt64($0) }
            }
            var spin = Int.random(in: 0..<20_000, using: &random)
            while spin > 0 { spin -= 1 }
            acknowledged = writer.kill().last.flatMap { UInt64($0) } ?? acknowledged
            kills += 1
            let last = try #require(acknowledged)

            let store = try NodeStore(path: path)
            var found: UInt64 = 0
            for slot in UInt64(0)..<10 {
                let text = try store.slot("slot-\(slot)").map { String(decoding: $0, as: UTF8.self) }
                guard let number = text.flatMap({ UInt64($0) }) else {
                    #expect(last < slot)
                    continue
                }
                #expect(number % 10 == slot && number + 10 > last && number <= last + 1, "slot \(slot): \(number)")
                found = max(found, number)
            }
            #expect(found == last || found == last + 1)
            try store.database.close()
            next = found + 1
        }
        print("killed \(kills) times in \(next) writes")
    }
}
