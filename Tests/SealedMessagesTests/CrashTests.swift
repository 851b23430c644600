internal import Foundation
internal import TestSupport
internal import Testing

@Suite("Sealed messages whose process is killed", .timeLimit(.minutes(15))) struct CrashTests {
    // Each message is synced to the disk, and each kill costs a process; the gate has a tenth of the rounds.
    private static let rounds: UInt64 = LongTests.areRun ? 1_000 : 100

    @Test func `killing the process at random points uses no key twice, and opens no message twice`() throws {
        let home = try TemporaryDataDirectory()
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
        var random = SplitMix64(seed: 4)
        var (next, kills): (UInt64, Int) = (0, 0)
        var names: Set<Substring> = []
        var opened: Set<Substring> = []
        var outcomes: [Substring: Int] = [:]
        while next < Self.rounds {
            let writer = try ChildProcess("SealedWriter", arguments: [home.path, "\(next)"])
            var lines: [String] = []
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                if let line = writer.nextLine() { lines.append(line) }
            }
            var spin = Int.random(in: 0..<200_000, using: &random)
            while spin > 0 { spin -= 1 }
            lines += writer.kill()
            kills += 1
            for line in lines {
                let words = line.split(separator: " ")
                outcomes[words[0], default: 0] += 1
                switch words[0] {
                case "sealed":
                    #expect(names.insert(words[2]).inserted, "the key \(words[2]) was used twice")
                    next = try #require(UInt64(words[1])) + 1
                case "opened", "again":
                    #expect(opened.insert(words[1]).inserted, "the message \(words[1]) was opened twice")
                case "refused": break
                default: Issue.record("\(line)")
                }
            }
        }
        print("killed \(kills) times in \(next) rounds: \(outcomes)")
        #expect(opened.count > Int(Self.rounds) / 2)
        #expect(outcomes["refused", default: 0] > 0)
    }
}
