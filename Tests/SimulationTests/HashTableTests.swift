internal import Testing

@testable internal import Simulation

/// Small versions of the scenarios about the hash table; the full ones are run by benchmarks.
@Suite("Hash tables in simulation", .timeLimit(.minutes(15))) struct HashTableTests {
    @Test(arguments: [1, 2] as [UInt64])
    func `nodes under churn know their nearest and find others in few hops`(seed: UInt64) throws {
        let report = try Scenario.run("dht-churn", nodes: 50, seed: seed) { scenario in
            scenario.shrinkWork(by: 20)
            scenario.shorten(to: .seconds(5400))
        }
        #expect(report.figures["tables"].map { $0 >= 100 } == true)
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test func `records are stored and read within seconds`() throws {
        let stored = try Scenario.run("dht-store", nodes: 50) { $0.shrinkWork(by: 20) }
        #expect(stored.figures["records"] == 50)
        #expect(stored.ok, "\(stored.expectations.filter { !$0.isMet })")
    }

    @Test func `a lookup ends at the members that are nearest`() throws {
        let report = try Scenario.run("dht-lookup", nodes: 60) { $0.shrinkWork(by: 20) }
        #expect(report.figures["dhtGetCount"] == 100)
        #expect(report.figures["dhtLookupCount"] == 50)
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test func `no record is lost while its replicas come and go`() throws {
        let report = try Scenario.run("dht-durability", nodes: 40) { scenario in
            scenario.shrinkWork(by: 200)
            scenario.shorten(to: .seconds(6 * 3600))
            scenario.expectations.removeAll { $0.figure == "records" }
        }
        #expect(report.figures["records"].map { $0 >= 47 } == true)
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test func `a fifth of liars hide neither records nor members`() throws {
        let report = try Scenario.run("dht-hostile", nodes: 60) { $0.shrinkWork(by: 10) }
        #expect(report.figures["dhtGetCount"] == 100)
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test func `a besieged key is mostly read right`() throws {
        let report = try Scenario.run("dht-besieged", nodes: 60) { $0.shrinkWork(by: 10) }
        #expect(report.figures["dhtGetCorrectShare"].map { $0 > 0.5 } == true)
    }
}

extension Scenario {
    /// Ends earlier: later steps are moved to shortly before the end.
    mutating func shorten(to duration: Duration) {
        self.duration = min(self.duration, duration)
        let last = self.duration - .seconds(10)
        for index in self.steps.indices { self.steps[index].at = min(self.steps[index].at, last) }
    }

    /// Asks for fewer requests, and besieges fewer keys.
    mutating func shrinkWork(by factor: Int) {
        if let hostility = self.hostility { self.hostility?.besiegedKeys = min(hostility.besiegedKeys, 2) }
        func less(_ work: Work) -> Work { Work(count: max(work.count / factor, 1), over: work.over) }
        for index in self.steps.indices {
            switch self.steps[index].action {
            case .put(let work, let byteCount, let lifetime):
                self.steps[index].action = .put(less(work), valueByteCount: byteCount, lifetime: lifetime)
            case .update(let work): self.steps[index].action = .update(less(work))
            case .get(let work, let reading): self.steps[index].action = .get(less(work), reading)
            case .lookup(let work): self.steps[index].action = .lookup(less(work))
            case .mail(let work, let byteCount, let lifetime):
                self.steps[index].action = .mail(less(work), byteCount: byteCount, lifetime: lifetime)
            case .seal(let work, let byteCount): self.steps[index].action = .seal(less(work), byteCount: byteCount)
            default: break
            }
        }
    }
}
