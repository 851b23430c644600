internal import Bytes
internal import Identity
internal import Kademlia
internal import Testing

@Suite("Record cache") struct RecordCacheTests {
    private let household = Household()

    private func now(_ seconds: Int = 0) -> NodeTime {
        NodeTime(monotonic: .seconds(seconds), wallSeconds: Swarm.epoch + UInt64(seconds))
    }

    @Test func `the newest record under a key is kept in any order of arrival`() throws {
        var cache = RecordCache()
        let old = try self.household.record("key", 1, version: 5, writer: 0)
        let new = try self.household.record("key", 2, version: 6, writer: 1)
        let (keepsNew, keepsOld) = (cache.insert(new, at: self.now()), cache.insert(old, at: self.now()))
        #expect(keepsNew && !keepsOld)
        #expect(cache.record(for: old.key, at: self.now()) == new)
        let newest = try self.household.record("key", 3, version: 7, writer: 0)
        cache.insert(newest, at: self.now())
        #expect(cache.record(for: old.key, at: self.now()) == newest)
        #expect(cache.count == 1)
    }

    @Test func `a record answers until it is too old or has expired`() throws {
        var cache = RecordCache(maximumAge: .seconds(300))
        let short = try self.household.record("short", 1, version: 1, writer: 0, lifetime: 60)
        let long = try self.household.record("long", 1, version: 1, writer: 0, lifetime: 3600)
        cache.insert(short, at: self.now())
        cache.insert(long, at: self.now())
        #expect(cache.record(for: short.key, at: self.now(119)) == short)
        #expect(cache.record(for: short.key, at: self.now(121)) == nil)
        #expect(cache.record(for: long.key, at: self.now(300)) == long)
        #expect(cache.record(for: long.key, at: self.now(301)) == nil)
    }

    @Test func `a tombstone removes only its writer's record`() throws {
        var cache = RecordCache()
        let record = try self.household.record("key", 1, version: 5, writer: 0)
        cache.insert(record, at: self.now())
        let foreign = cache.insert(try self.household.record("key", nil, version: 9, writer: 1), at: self.now())
        #expect(!foreign)
        #expect(cache.record(for: record.key, at: self.now()) == record)
        let own = cache.insert(try self.household.record("key", nil, version: 6, writer: 0), at: self.now())
        #expect(own)
        #expect(cache.record(for: record.key, at: self.now()) == nil)
        let again = cache.insert(record, at: self.now())
        #expect(!again)
    }

    @Test func `the least recently used record is evicted`() throws {
        var cache = RecordCache(countLimit: 3)
        for name in ["a", "b", "c"] {
            cache.insert(try self.household.record(name, 1, version: 1, writer: 0), at: self.now())
        }
        #expect(cache.record(for: Array("a".utf8), at: self.now()) != nil)
        cache.insert(try self.household.record("d", 1, version: 1, writer: 0), at: self.now())
        #expect(cache.record(for: Array("b".utf8), at: self.now()) == nil)
        for name in ["a", "c", "d"] { #expect(cache.record(for: Array(name.utf8), at: self.now()) != nil) }
        let bytes = try self.household.record("a", 1, version: 1, writer: 0).byteCount
        #expect(cache.byteCount == 3 * bytes)
        var small = RecordCache(byteLimit: 2 * bytes)
        for name in ["a", "b", "c"] {
            small.insert(try self.household.record(name, 1, version: 1, writer: 0), at: self.now())
        }
        #expect(small.count == 2)
        #expect(small.byteCount == 2 * bytes)
    }

    @Test(arguments: [
        ("user/*", 2), ("*", 4), ("user/1", 1), ("*/1", 2), ("u*r/*2", 1), ("", 0), ("user", 0), ("*a*b*", 0),
        ("**settings**", 1),
    ]) func `a pattern forgets the keys that match it`(pattern: String, count: Int) throws {
        var cache = RecordCache()
        for name in ["user/1", "user/2", "room/1", "settings"] {
            cache.insert(try self.household.record(name, 1, version: 1, writer: 0), at: self.now())
        }
        #expect(cache.revoke(matching: pattern) == count)
        #expect(cache.count == 4 - count)
    }

    @Test func `the records of a revoked writer are removed`() throws {
        var cache = RecordCache()
        cache.insert(try self.household.record("a", 1, version: 1, writer: 0), at: self.now())
        cache.insert(try self.household.record("b", 1, version: 1, writer: 1), at: self.now())
        cache.removeAll(of: self.household.peers[0])
        #expect(cache.record(for: Array("a".utf8), at: self.now()) == nil)
        #expect(cache.record(for: Array("b".utf8), at: self.now()) != nil)
    }
}
