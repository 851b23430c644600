internal import RegistrationModel
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import IdentityStore

@Suite("Accounts of an identity server", .timeLimit(.minutes(5))) struct AccountTests {
    @Test func `an account is found by its id, handle, DID and passkey, also after a restart`() async throws {
        let directory = try TemporaryDirectory()
        let person = try Person(1)
        let first = try IdentityStore.open(directory)
        try await first.register(person)
        try first.close()
        let store = try IdentityStore.open(directory)
        #expect(try await store.account(person.userId) == person.account)
        #expect(try await store.account(handle: person.account.handle) == person.account)
        #expect(try await store.account(did: person.account.did) == person.account)
        #expect(try await store.credential(person.credential.id) == person.credential)
        #expect(try await store.credentials(of: person.userId) == [person.credential])
        #expect(try await store.session(person.session.id) == person.session)
        let other = try Person(2)
        #expect(try await store.account(other.userId) == nil)
        #expect(try await store.account(handle: other.account.handle) == nil)
        #expect(try await store.account(did: other.account.did) == nil)
        #expect(try await store.credential(other.credential.id) == nil)
        try store.close()
        await #expect(throws: IdentityStoreError.self) { try await store.account(person.userId) }
        await #expect(throws: IdentityStoreError.self) { try await store.register(other) }
    }

    @Test func `a taken handle, DID, passkey or id registers nothing`() async throws {
        let store = try IdentityStore()
        let (person, other) = (try Person(1), try Person(2))
        try await store.register(person)
        await #expect(throws: IdentityStoreError.handleTaken) {
            try await store.register(other.with(handle: person.account.handle))
        }
        await #expect(throws: IdentityStoreError.didTaken) {
            try await store.register(other.with(did: person.account.did))
        }
        await #expect(throws: IdentityStoreError.credentialTaken) {
            try await store.register(other.with(credentialId: person.credential.id))
        }
        await #expect(throws: IdentityStoreError.handleTaken) { try await store.register(person) }
        await #expect(throws: IdentityStoreError.accountExists) {
            let again = person.with(handle: other.account.handle, did: other.account.did)
            try await store.register(again)
        }
        #expect(try await store.account(other.userId) == nil)
        #expect(try await store.session(other.session.id) == nil)
        #expect(try await store.totals() == IdentityTotals(accounts: 1, credentials: 1, sessions: 1))
        try await store.register(other)
        #expect(try await store.totals() == IdentityTotals(accounts: 2, credentials: 2, sessions: 2))
    }

    @Test func `of concurrent registrations with one handle, one succeeds`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let people = try (0..<20).map { try Person(UInt64($0)).with(handle: Handle("the-same-handle")) }
        let errors = await errors(of: 20) { number throws(IdentityStoreError) in
            try await store.register(people[number])
        }
        #expect(errors.count { $0 == nil } == 1 && errors.count { $0 == .handleTaken } == 19)
        #expect(try await store.totals() == IdentityTotals(accounts: 1, credentials: 1, sessions: 1))
        try store.close()
    }

    @Test func `of concurrent registrations with one DID, one succeeds`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let did = try Person(99).account.did
        let people = try (0..<20).map { try Person(UInt64($0)).with(did: did) }
        let errors = await errors(of: 20) { number throws(IdentityStoreError) in
            try await store.register(people[number])
        }
        #expect(errors.count { $0 == nil } == 1 && errors.count { $0 == .didTaken } == 19)
        try store.close()
    }

    @Test func `of concurrent registrations with one passkey, one succeeds`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let id = try Person(99).credential.id
        let people = try (0..<20).map { try Person(UInt64($0)).with(credentialId: id) }
        let errors = await errors(of: 20) { number throws(IdentityStoreError) in
            try await store.register(people[number])
        }
        #expect(errors.count { $0 == nil } == 1 && errors.count { $0 == .credentialTaken } == 19)
        #expect(try await store.totals() == IdentityTotals(accounts: 1, credentials: 1, sessions: 1))
        try store.close()
    }

    @Test func `concurrent registrations share commits`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let people = try (0..<100).map { try Person(UInt64($0)) }
        let errors = await errors(of: 100) { number throws(IdentityStoreError) in
            try await store.register(people[number])
        }
        #expect(errors.allSatisfy { $0 == nil })
        #expect(store.groupCommits.writes == 100 && store.groupCommits.commits < 100)
        try store.close()
        let again = try IdentityStore.open(directory)
        for person in people { #expect(try await again.account(handle: person.account.handle) == person.account) }
        #expect(try await again.totals() == IdentityTotals(accounts: 100, credentials: 100, sessions: 100))
        print("100 registrations in \(store.groupCommits.commits) commits")
        try again.close()
    }

    @Test func `the handle, DID and passkey of a deleted account are free, and its sessions revoked`() async throws {
        let store = try IdentityStore()
        let (person, other) = (try Person(1), try Person(2))
        try await store.register(person)
        try await store.register(other)
        try await store.add(person.passkey(1))
        try await store.signIn(person.use(count: 6), person.session(1))
        try await store.deleteAccount(person.userId)
        #expect(try await store.account(person.userId) == nil)
        #expect(try await store.credential(person.credential.id) == nil)
        #expect(try await store.credentials(of: person.userId).isEmpty)
        #expect(try await store.session(person.session.id) == nil)
        #expect(try await store.isRevoked(person.session.id))
        #expect(try await store.isRevoked(person.session(1).id))
        #expect(try await store.account(other.userId) == other.account)
        #expect(try await store.totals() == IdentityTotals(accounts: 1, credentials: 1, sessions: 1))
        await #expect(throws: IdentityStoreError.noSuchAccount) { try await store.deleteAccount(person.userId) }
        let again = try Person(3).with(
            handle: person.account.handle,
            did: person.account.did,
            credentialId: person.credential.id
        )
        try await store.register(again)
    }
}
