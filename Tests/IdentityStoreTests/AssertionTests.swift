internal import Database
internal import GRDB
internal import RegistrationModel
internal import TestSupport
internal import Testing

@testable internal import IdentityStore

/// Reads before a person has proved anything.
@Suite("Stand-ins of an identity store", .timeLimit(.minutes(5))) struct AssertionTests {
    private func standIn(_ person: Person) -> AssertedCredential {
        AssertedCredential(
            userId: person.userId,
            handle: person.account.handle,
            publicKey: person.credential.publicKey,
            signCount: 7,
            isBackupEligible: false,
            isBackedUp: true
        )
    }

    @Test func `a passkey is read with its account, and another id has the stand-in`() async throws {
        let store = try IdentityStore()
        let (person, decoy) = (try Person(1), standIn(try Person(2)))
        try await store.register(person)
        let found = try await store.asserted(person.credential.id, else: decoy)
        #expect(found.userId == person.userId && found.handle == person.account.handle)
        #expect(found.publicKey == person.credential.publicKey && found.signCount == 5)
        #expect(found.isBackupEligible && !found.isBackedUp)
        for other in [[], [0], [255], [UInt8](repeating: 255, count: 64), person.credential.id + [0]] as [[UInt8]] {
            #expect(try await store.asserted(other, else: decoy) == decoy)
        }
    }

    @Test func `an empty store has stand-ins alone`() async throws {
        let store = try IdentityStore()
        let (decoy, named) = (standIn(try Person(2)), NamedCredential(id: [1, 2], transports: "usb"))
        #expect(try await store.asserted([1], else: decoy) == decoy)
        #expect(try await store.credentials(of: try Handle("unknown"), else: named) == [named])
    }

    @Test func `the passkeys of a handle are read in their order, and another handle has the stand-in`() async throws {
        let store = try IdentityStore()
        let person = try Person(1)
        let decoy = NamedCredential(id: [1, 2], transports: "usb")
        try await store.register(person)
        let own = [person.credential, person.passkey(1), person.passkey(2)]
        for passkey in own.dropFirst() { try await store.add(passkey) }
        #expect(try await store.credentials(of: person.account.handle, else: decoy) == own.map { NamedCredential($0) })
        for other in ["aaa", "person", "unknown", "zzz"] {
            #expect(try await store.credentials(of: try Handle(other), else: decoy) == [decoy])
        }
    }

    @Test func `a row is decoded for an unknown id and an unknown handle too`() async throws {
        let store = try IdentityStore()
        let person = try Person(1)
        let (decoy, named) = (standIn(person), NamedCredential(id: [1, 2], transports: "usb"))
        try await store.register(person)
        try await store.write { try $0.run("UPDATE accounts SET handle = 'NOT A HANDLE'") }
        for id in [person.credential.id, [0]] {
            await #expect(throws: IdentityStoreError.self) { try await store.asserted(id, else: decoy) }
        }
        for handle in [person.account.handle, try Handle("aaa")] {
            await #expect(throws: IdentityStoreError.self) { try await store.credentials(of: handle, else: named) }
        }
    }
}
