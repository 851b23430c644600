internal import Bytes
internal import Identity
internal import Platform
internal import RegistrationModel
internal import TestSupport
internal import Testing

@testable internal import Registration

@Suite("Keys of a registration") struct KeychainManagerTests {
    private let storage = InMemoryKeyStorage()
    private let keychain: KeychainManager

    init() {
        keychain = KeychainManager(storage: storage)
    }

    @Test func `items have the names, the group and the guards of the guide`() throws {
        #expect(try keychain.getDIDKey() == nil && keychain.getAuthenticationToken() == nil)
        #expect(try keychain.getArkavoCredentials() == nil)
        try keychain.generateAndSaveDIDKey()
        try keychain.saveAuthenticationToken(SecretBytes(copying: Array("L1L…".utf8)))
        try keychain.saveArkavoCredentials(try Scene.account())
        #expect(try storage.list() == ["arkavo_credentials", "authentication_token", "did", "did_key"])
        try keychain.saveAuthenticationToken(SecretBytes(copying: [1]), expires: 1_000)
        #expect(try keychain.getAuthenticationTokenExpiry() == 1_000)
        for id in try storage.list() {
            let control = try #require(try storage.accessControl(id: id))
            #expect(control.accessGroup == "com.arkavo.webauthn")
            #expect(control.accessibleWhen == (id == "did_key" ? .whenUnlockedThisDeviceOnly : .whenUnlocked), "\(id)")
        }
        let own = KeychainManager(storage: InMemoryKeyStorage(), accessGroup: nil)
        #expect(try own.generateAndSaveDIDKey() != keychain.getDIDKey())
    }

    @Test func `a DID is made once and its key is never replaced`() throws {
        let did = try keychain.generateAndSaveDIDKey()
        #expect(did.description.hasPrefix("did:key:zDnae"))
        #expect(try keychain.getDIDKey() == did && keychain.getOrGenerateDIDKey() == did)
        #expect(throws: KeychainError.self) { try keychain.generateAndSaveDIDKey() }
        #expect(try keychain.getDIDKey() == did)
        try keychain.deleteDIDKey()
        #expect(try keychain.getDIDKey() == nil && storage.list().isEmpty)
        #expect(try keychain.getOrGenerateDIDKey() != did)
    }

    @Test func `a crash between the key and its text is made good`() throws {
        let did = try keychain.generateAndSaveDIDKey()
        let text = try storage.retrieve(id: "did")
        #expect(text == SecretBytes(copying: Array(did.description.utf8)))
        try storage.delete(id: "did")
        #expect(try keychain.getOrGenerateDIDKey() == did)
        #expect(try storage.retrieve(id: "did") == text)
    }

    @Test func `the proof names the challenge, the server and the handle`() throws {
        let (handle, other) = (try Handle("alice"), try Handle("alice2"))
        #expect(throws: KeychainError.self) { try keychain.didProof(challenge: [1], rpId: "a.test", handle: handle) }
        let did = try keychain.generateAndSaveDIDKey()
        let proof = try keychain.didProof(challenge: [1], rpId: "a.test", handle: handle)
        #expect(Scene.isValid(proof, challenge: [1], rpId: "a.test", handle: handle, did: did))
        #expect(!Scene.isValid(proof, challenge: [2], rpId: "a.test", handle: handle, did: did))
        #expect(!Scene.isValid(proof, challenge: [1], rpId: "b.test", handle: handle, did: did))
        #expect(!Scene.isValid(proof, challenge: [1], rpId: "a.test", handle: other, did: did))
    }

    @Test(arguments: [[1], [1, 2, 3], [2] + [UInt8](repeating: 1, count: 32), [UInt8](repeating: 0, count: 33)])
    func `a damaged key is an error and no new key is made`(bytes: [UInt8]) throws {
        try storage.store(SecretBytes(copying: bytes), id: "did_key")
        #expect(throws: KeychainError.self) { try keychain.getDIDKey() }
        #expect(throws: KeychainError.self) { try keychain.getOrGenerateDIDKey() }
        #expect(try storage.retrieve(id: "did_key") == SecretBytes(copying: bytes))
    }

    @Test(arguments: [600, 3_000, 4_096]) func `a token of this size is stored`(count: Int) throws {
        let token = SecretBytes(copying: [UInt8](repeating: 65, count: count))
        try keychain.saveAuthenticationToken(token)
        #expect(try keychain.getAuthenticationToken() == token)
        let newer = SecretBytes(copying: [66])
        try keychain.saveAuthenticationToken(newer)
        #expect(try keychain.getAuthenticationToken() == newer)
        #expect(try keychain.getAuthenticationTokenExpiry() == nil)
        try keychain.deleteAuthenticationToken()
        #expect(try keychain.getAuthenticationToken() == nil && storage.list().isEmpty)
    }

    @Test func `a token that the storage does not accept keeps the former one`() throws {
        try keychain.saveAuthenticationToken(SecretBytes(copying: [66]))
        let large = SecretBytes(copying: [UInt8](repeating: 65, count: 8_192))
        #expect(throws: KeychainError.invalidKey(byteCount: 8_192)) { try keychain.saveAuthenticationToken(large) }
        #expect(try keychain.getAuthenticationToken() == SecretBytes(copying: [66]))
    }

    @Test func `names of an account survive the storage, and damaged ones are an error`() throws {
        let account = try Scene.account()
        try keychain.saveArkavoCredentials(account)
        #expect(try keychain.getArkavoCredentials() == account)
        #expect(try keychain.getArkavoCredentials()?.handle.text == "alice.example.test")
        neverCrash(on: [try account.encoded()]) { _ = try ArkavoCredentials(encoded: $0) }
        try storage.store(SecretBytes(copying: [123]), id: "arkavo_credentials")
        #expect(throws: KeychainError.self) { try keychain.getArkavoCredentials() }
        try keychain.deleteArkavoCredentials()
        #expect(try keychain.getArkavoCredentials() == nil)
    }
}
