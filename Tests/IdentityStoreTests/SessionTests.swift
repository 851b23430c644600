internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import IdentityStore

@Suite("Sessions of an identity server", .timeLimit(.minutes(5))) struct SessionTests {
    @Test func `a renewed session expires later, and an expired one is not renewed`() async throws {
        let store = try IdentityStore()
        let (person, other) = (try Person(1), try Person(2))
        try await store.register(person)
        try await store.register(other)
        let id = person.session.id
        try await store.renewSession(id, of: person.userId, at: 1_700_080_000, expires: 1_700_170_000)
        let renewed = try #require(try await store.session(id))
        #expect(renewed.renewed == 1_700_080_000 && renewed.expires == 1_700_170_000)
        await #expect(throws: IdentityStoreError.noSuchSession) {
            try await store.renewSession(id, of: person.userId, at: 1_700_170_000, expires: 1_700_180_000)
        }
        await #expect(throws: IdentityStoreError.noSuchSession) {
            try await store.renewSession(id, of: other.userId, at: 1_700_080_000, expires: 1_700_180_000)
        }
        #expect(try await store.session(id) == renewed)
    }

    @Test func `a revoked session is not renewed, and stays revoked while its tokens count`() async throws {
        let store = try IdentityStore()
        let (person, other) = (try Person(1), try Person(2))
        try await store.register(person)
        try await store.register(other)
        let id = person.session.id
        await #expect(throws: IdentityStoreError.noSuchSession) { try await store.revokeSession(id, of: other.userId) }
        #expect(try await !store.isRevoked(id))
        try await store.revokeSession(id, of: person.userId)
        try await store.revokeSession(id, of: person.userId)
        #expect(try await store.isRevoked(id))
        #expect(try await store.session(id) == nil)
        await #expect(throws: IdentityStoreError.sessionRevoked) {
            try await store.renewSession(id, of: person.userId, at: 1_700_000_001, expires: 1_700_170_000)
        }
        #expect(try await store.expire(at: person.session.expires - 1) == 0)
        #expect(try await store.isRevoked(id))
        let end = person.session.expires + UnixTime.graceSeconds
        #expect(try await store.expire(at: end) == 1)
        #expect(try await store.isRevoked(id))
        try await store.expire(at: end + 1)
        #expect(try await !store.isRevoked(id))
        #expect(try await store.totals().sessions == 0)
    }

    @Test func `all sessions but one are revoked`() async throws {
        let store = try IdentityStore()
        let (person, other) = (try Person(1), try Person(2))
        try await store.register(person)
        try await store.register(other)
        for number in UInt64(1)..<4 {
            try await store.signIn(person.use(count: UInt32(5 + number)), person.session(number))
        }
        #expect(try await store.revokeSessions(of: person.userId, except: person.session(2).id) == 3)
        #expect(try await store.sessions(of: person.userId, at: 1_700_000_200) == [person.session(2)])
        #expect(try await store.sessions(of: other.userId, at: 1_700_000_200) == [other.session])
        #expect(try await store.revokeSessions(of: person.userId) == 1)
        #expect(try await store.totals().sessions == 1)
    }

    @Test func `a service receives each revocation once, in order, and no number returns`() async throws {
        let store = try IdentityStore()
        let people = try (0..<5).map { try Person(UInt64($0)) }
        for person in people { try await store.register(person) }
        for person in people.prefix(3) { try await store.revokeSession(person.session.id, of: person.userId) }
        let first = try await store.revocations(after: 0, limit: 2)
        #expect(first.map(\.id) == people[0..<2].map(\.session.id) && first.map(\.number) == [1, 2])
        let second = try await store.revocations(after: 2, limit: 2)
        #expect(second.map(\.id) == [people[2].session.id])
        // A verifier accepts the last token for the whole grace.
        let end = people[2].session.expires + UnixTime.graceSeconds
        #expect(!UnixTime.isPast(people[2].session.expires, at: end) && second[0].expires == end + 1)
        try await store.expire(at: end)
        #expect(try await store.revocations(after: 0, limit: 9).count == 3)
        try await store.expire(at: end + 1)
        #expect(try await store.revocations(after: 0, limit: 9).isEmpty)
        try await store.signIn(people[3].use(count: 6), people[3].session(1, expires: 1_800_000_000))
        try await store.revokeSession(people[3].session(1).id, of: people[3].userId)
        #expect(try await store.revocations(after: 3, limit: 9).map(\.number) == [4])
    }

    @Test func `a further session ends the one that was renewed least recently`() async throws {
        let store = try IdentityStore()
        let person = try Person(1)
        try await store.register(person)
        for number in 1..<UInt64(IdentityStore.sessionLimit) {
            try await store.signIn(
                person.use(count: UInt32(5 + number)),
                person.session(number, at: 1_700_000_000 + number)
            )
        }
        let limit = UInt64(IdentityStore.sessionLimit)
        #expect(try await store.totals().sessions == limit)
        try await store.renewSession(person.session.id, of: person.userId, at: 1_700_001_000, expires: 1_700_100_000)
        try await store.signIn(person.use(count: 500), person.session(1_000, at: 1_700_002_000))
        #expect(try await store.totals().sessions == limit)
        #expect(try await store.session(person.session.id) != nil)
        #expect(try await store.isRevoked(person.session(1).id))
        #expect(try await !store.isRevoked(person.session(2).id))
    }

    @Test func `many sessions expire in several transactions`() async throws {
        let store = try IdentityStore()
        let person = try Person(1)
        try await store.register(person)
        let count = IdentityStore.expiryBatch + 100
        try store.database.write { database in
            for number in 0..<UInt64(count) {
                try person.session(number, expires: 1_700_000_500 + number).insert(database)
            }
        }
        #expect(try await store.totals().sessions == UInt64(count + 1))
        #expect(try await store.expire(at: 1_700_000_499 + UInt64(count - 1)) == count - 1)
        #expect(try await store.totals().sessions == 2)
    }
}
