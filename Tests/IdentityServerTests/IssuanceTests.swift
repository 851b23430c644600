internal import HTTPAPI
internal import Identity
internal import Platform
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import IdentityServer

/// The beginnings of ceremonies, which anyone can send.
@Suite("Issuance of challenges") struct IssuanceTests {
    @Test func `ten thousand challenges write nothing to the disk`() async throws {
        let scene = try Scene([.requestLimits: ["off"]])
        let alice = try await scene.register("alice")
        let user = try await scene.user(alice)
        let did = DIDKey(P256PrivateKey().publicKey)
        let (service, client) = (scene.service, Scene.client)
        func state() throws -> [String: [UInt8]] {
            // The shared memory of the readers is no state.
            let names = try scene.directory.names().filter { !$0.hasSuffix("-shm") }
            return try names.reduce(into: [:]) { $0[$1] = try scene.directory.bytes($1) }
        }
        let before = try state()
        #expect(before["audit.log"]?.isEmpty == false)
        #expect(before["identity.sqlite"]?.isEmpty == false)
        #expect(before["identity.sqlite-wal"]?.isEmpty == false)
        var count = 0
        var seen: Set<[UInt8]> = []
        for number in 0..<100 {
            seen.insert(try await service.beginAuthentication(alice.handle, from: client).challenge)
            seen.insert(try await service.beginAuthentication(try Handle("unknown-\(number)"), from: client).challenge)
            seen.insert(try await service.beginRegistration(try Handle("free-\(number)"), did, from: client).challenge)
            let action = AccountService.Action.allCases[number % 3]
            seen.insert(try await service.beginConfirmation(of: action, user, from: client).challenge)
            count += 4
        }
        while count < 10_000 {
            seen.insert(try await service.beginAuthentication(nil, from: client).challenge)
            count += 1
        }
        #expect(seen.count == 10_000)
        let after = try state()
        #expect(after.keys.sorted() == before.keys.sorted())
        for (name, bytes) in before { #expect(after[name] == bytes, "\(name) changed") }
    }
}
