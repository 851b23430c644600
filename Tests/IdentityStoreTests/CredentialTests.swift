internal import TestSupport
internal import Testing

@testable internal import IdentityStore

@Suite("Passkeys of an identity server", .timeLimit(.minutes(5))) struct CredentialTests {
    @Test func `a sign-in stores the counter and the state of the copy, and begins a session`() async throws {
        let store = try IdentityStore()
        let person = try Person(1)
        try await store.register(person)
        try await store.signIn(person.use(count: 6, at: 1_700_000_200), person.session(1))
        let credential = try #require(try await store.credential(person.credential.id))
        #expect(credential.signCount == 6 && credential.isBackedUp && credential.used == 1_700_000_200)
        #expect(try await store.session(person.session(1).id) == person.session(1))
    }

    @Test(arguments: [(5, 5), (5, 4), (5, 0), (UInt32.max, UInt32.max)] as [(UInt32, UInt32)])
    func `a counter that does not increase refuses the sign-in`(stored: UInt32, found: UInt32) async throws {
        let store = try IdentityStore()
        let person = try Person(1)
        var credential = person.credential
        credential.signCount = stored
        try await store.register(person.account, credential, person.session)
        let expected = IdentityStoreError.counterDidNotIncrease(stored: stored, found: found)
        await #expect(throws: expected) { try await store.signIn(person.use(count: found), person.session(1)) }
        #expect(try await store.session(person.session(1).id) == nil)
        #expect(try await store.credential(credential.id) == credential)
    }

    @Test func `a passkey without a counter signs in again and again`() async throws {
        let store = try IdentityStore()
        let person = try Person(1)
        var credential = person.credential
        credential.signCount = 0
        try await store.register(person.account, credential, person.session)
        try await store.signIn(person.use(count: 0), person.session(1))
        try await store.signIn(person.use(count: 0), person.session(2))
        try await store.note(person.use(count: 1), of: person.userId)
        await #expect(throws: IdentityStoreError.counterDidNotIncrease(stored: 1, found: 0)) {
            try await store.note(person.use(count: 0), of: person.userId)
        }
    }

    @Test func `of concurrent assertions with one counter, one signs in`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let person = try Person(1)
        try await store.register(person)
        let errors = await errors(of: 20) { number throws(IdentityStoreError) in
            try await store.signIn(person.use(count: 6), person.session(UInt64(number)))
        }
        #expect(errors.count { $0 == nil } == 1)
        #expect(errors.count { $0 == .counterDidNotIncrease(stored: 6, found: 6) } == 19)
        #expect(try await store.totals().sessions == 2)
        try store.close()
    }

    @Test func `a passkey of another account is unknown`() async throws {
        let store = try IdentityStore()
        let (person, other) = (try Person(1), try Person(2))
        try await store.register(person)
        try await store.register(other)
        await #expect(throws: IdentityStoreError.noSuchCredential) {
            try await store.signIn(person.use(count: 6), other.session(1))
        }
        await #expect(throws: IdentityStoreError.noSuchCredential) {
            try await store.removeCredential(person.credential.id, of: other.userId)
        }
        await #expect(throws: IdentityStoreError.credentialTaken) {
            var passkey = other.credential
            passkey.id = person.credential.id
            try await store.add(passkey)
        }
        #expect(try await store.totals() == IdentityTotals(accounts: 2, credentials: 2, sessions: 2))
    }

    @Test func `an account has a limited number of passkeys and keeps the last one`() async throws {
        let store = try IdentityStore()
        let person = try Person(1)
        await #expect(throws: IdentityStoreError.noSuchAccount) { try await store.add(person.passkey(1)) }
        try await store.register(person)
        let more = (1..<UInt64(IdentityStore.credentialLimit)).map { person.passkey($0) }
        for passkey in more { try await store.add(passkey) }
        let limit = IdentityStore.credentialLimit
        await #expect(throws: IdentityStoreError.tooManyCredentials(limit: limit)) {
            try await store.add(person.passkey(100))
        }
        #expect(try await store.credentials(of: person.userId) == [person.credential] + more)
        for passkey in more { try await store.removeCredential(passkey.id, of: person.userId) }
        await #expect(throws: IdentityStoreError.lastCredential) {
            try await store.removeCredential(person.credential.id, of: person.userId)
        }
        #expect(try await store.credentials(of: person.userId) == [person.credential])
    }

    @Test func `of two concurrent removals of the last two passkeys, one succeeds`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let person = try Person(1)
        try await store.register(person)
        try await store.add(person.passkey(1))
        let ids = [person.credential.id, person.passkey(1).id]
        let errors = await errors(of: 2) { number throws(IdentityStoreError) in
            try await store.removeCredential(ids[number], of: person.userId)
        }
        #expect(errors.count { $0 == nil } == 1 && errors.contains(.lastCredential))
        try store.close()
    }
}
