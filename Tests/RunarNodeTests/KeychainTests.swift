internal import Concurrency
internal import Foundation
internal import Testing

@testable internal import RunarNode

/// A storage in memory that plays one with a sensor: guarded keys are read when the person agrees.
final class SensorStorage: KeyStorage {
    private struct State: Sendable {
        var agrees = true
        var asked = 0
        var now = Duration.zero
        var window = AnswerWindow()
    }

    private let inner = InMemoryKeyStorage()
    private let state = Locked(State())

    var enforcesBiometrics: Bool { true }
    var asked: Int { state.withLock { $0.asked } }

    func refuse() { state.withLock { $0.agrees = false } }

    func pass(_ time: Duration) { state.withLock { $0.now += time } }

    func store(_ key: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError) {
        try inner.store(key, id: id, accessControl: accessControl)
    }

    func retrieve(id: String) throws(KeychainError) -> SecretBytes? {
        if try inner.accessControl(id: id)?.requireBiometric == true {
            let agrees = state.withLock { state in
                state.asked += 1
                return state.agrees
            }
            guard agrees else { throw .denied }
        }
        return try inner.retrieve(id: id)
    }

    func retrieve(ids: [String]) throws(KeychainError) -> [String: SecretBytes] {
        var (keys, isGuarded) = ([String: SecretBytes](), false)
        for id in ids {
            keys[id] = try inner.retrieve(id: id)
            if try inner.accessControl(id: id)?.requireBiometric == true { isGuarded = true }
        }
        guard isGuarded else { return keys }
        let agrees = state.withLock { state in
            guard !state.window.isOpen(at: state.now) else { return true }
            state.asked += 1
            if state.agrees { state.window.open(at: state.now) }
            return state.agrees
        }
        guard agrees else { throw .denied }
        return keys
    }

    func accessControl(id: String) throws(KeychainError) -> AccessControl? { try inner.accessControl(id: id) }
    func delete(id: String) throws(KeychainError) { try inner.delete(id: id) }
    func list() throws(KeychainError) -> [String] { try inner.list() }
    func exists(id: String) throws(KeychainError) -> Bool { try inner.exists(id: id) }
}

@Suite("Keychain") struct KeychainTests {
    private let storage = InMemoryKeyStorage()
    private let keychain: RunarKeychain

    init() { keychain = RunarKeychain(keyStorage: storage) }

    @Test func `a root key is made once and shown by its public half`() async throws {
        await #expect(throws: RunarKeychainError.noRootKey) { try await keychain.getUserRootPublicKey() }
        let made = try await keychain.initializeUserRootKey()
        #expect(try await keychain.getUserRootPublicKey() == made)
        _ = try Ed25519PublicKey(base64Encoded: made)
        await #expect(throws: RunarKeychainError.rootKeyExists) { try await keychain.initializeUserRootKey() }
        #expect(try await keychain.getUserRootPublicKey() == made)
    }

    @Test func `a persona has one key, and another one has another`() async throws {
        await #expect(throws: RunarKeychainError.noRootKey) { try await keychain.deriveProfileKey("work") }
        try await keychain.initializeUserRootKey()
        #expect(try await keychain.getProfilePublicKey("work") == nil)
        let work = try await keychain.deriveProfileKey("work")
        #expect(try await keychain.deriveProfileKey("work") == work)
        #expect(try await keychain.getProfilePublicKey("work") == work)
        #expect(try await keychain.deriveProfileKey("Zoë 🦊") != work)
        let key = try #require(try await keychain.profileKey("work"))
        #expect(key.publicKey.base64Encoded == work)
        for label in ["", "a\nb", String(repeating: "x", count: 65)] {
            await #expect(throws: IdentityError.self) { try await keychain.deriveProfileKey(label) }
            await #expect(throws: IdentityError.self) { try await keychain.getProfilePublicKey(label) }
        }
        // A reader of the storage's names does not learn the labels of the personas.
        #expect(try !storage.list().contains { $0.hasPrefix("profile/") && $0.contains("work") })
    }

    @Test func `every new network key has the next index`() async throws {
        await #expect(throws: RunarKeychainError.noRootKey) { try await keychain.generateNetworkKey() }
        try await keychain.initializeUserRootKey()
        let root = try #require(try keychain.keyPair(id: "root"))
        for index in UInt32(0)..<3 {
            let id = try await keychain.generateNetworkKey()
            let expected = deriveNetworkKey(masterKey: root, networkIndex: index).publicKey
            #expect(id == NetworkId(publicKey: expected).base64Encoded)
            #expect(try await keychain.getNetworkPublicKey(id) == expected.base64Encoded)
        }
        // Another one on the same storage continues the count.
        let fourth = try await RunarKeychain(keyStorage: storage).generateNetworkKey()
        #expect(
            fourth == NetworkId(publicKey: deriveNetworkKey(masterKey: root, networkIndex: 3).publicKey).base64Encoded
        )
    }

    @Test func `calls at the same time get different networks`() async throws {
        try await keychain.initializeUserRootKey()
        let keychain = keychain
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await keychain.generateNetworkKey() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 20)
    }

    @Test func `a root key that was brought here gets no network by guessing an index`() async throws {
        try storage.store(generateMasterKey().privateKey.secret, id: "root")
        await #expect(throws: RunarKeychainError.networkIndexUnknown) { try await keychain.generateNetworkKey() }
        // Nor does the counter of an earlier root key count for it.
        let other = InMemoryKeyStorage()
        let earlier = RunarKeychain(keyStorage: other)
        try await earlier.initializeUserRootKey()
        _ = try await earlier.generateNetworkKey()
        try other.store(generateMasterKey().privateKey.secret, id: "root")
        await #expect(throws: RunarKeychainError.networkIndexUnknown) { try await earlier.generateNetworkKey() }
    }

    @Test func `what is no network's id is refused, and the key of another's network is not there`() async throws {
        await #expect(throws: IdentityError.self) { try await keychain.getNetworkPublicKey("home") }
        let foreign = NetworkId(publicKey: generateMasterKey().publicKey)
        #expect(try await keychain.getNetworkPublicKey(foreign.text) == nil)
    }

    @Test func `a network key goes to the one device that it is sealed to`() async throws {
        try await keychain.initializeUserRootKey()
        let id = try await keychain.generateNetworkKey()
        let (device, other) = (
            RunarKeychain(keyStorage: InMemoryKeyStorage()), RunarKeychain(keyStorage: InMemoryKeyStorage())
        )
        let message = try await keychain.wrapNetworkKey(id, for: device.createDeviceRequest())
        _ = try await other.createDeviceRequest()
        await #expect(throws: RunarKeychainError.notForThisDevice) { try await other.installNetworkKey(message) }
        #expect(try await device.getNetworkPublicKey(id) == nil)
        try await device.installNetworkKey(message)
        #expect(try await device.getNetworkPublicKey(id) == keychain.getNetworkPublicKey(id))
        await #expect(throws: RunarKeychainError.noRootKey) { try await device.getUserRootPublicKey() }
        var changed = message
        changed[changed.count - 1] ^= 1
        await #expect(throws: IdentityError.self) { try await device.installNetworkKey(changed) }
        let unknown = NetworkId(publicKey: generateMasterKey().publicKey)
        await #expect(throws: RunarKeychainError.noNetworkKey(unknown)) {
            try await keychain.wrapNetworkKey(unknown.text, for: device.createDeviceRequest())
        }
    }

    @Test func `without a sensor a guard is refused, and nothing is asked`() async throws {
        try await keychain.initializeUserRootKey()
        let error = await #expect(throws: KeychainError.self) { try await keychain.enableBiometricAuth(true) }
        guard case .unsupported? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await !keychain.requireBiometricAuth())
        try await keychain.enableBiometricAuth(false)
    }

    @Test func `a guard is put before the person's keys, earlier and later ones, and taken away again`() async throws {
        let storage = SensorStorage()
        let keychain = RunarKeychain(keyStorage: storage)
        try await keychain.initializeUserRootKey()
        try await keychain.deriveProfileKey("work")
        _ = try await keychain.createDeviceRequest()
        #expect(try await !keychain.requireBiometricAuth())
        try await keychain.enableBiometricAuth(true)
        _ = try await keychain.generateNetworkKey()
        for id in try storage.list() {
            let isPersonal = id == "root" || id.hasPrefix("profile/") || id.hasPrefix("network/")
            #expect(try storage.accessControl(id: id)?.requireBiometric == isPersonal, "\(id)")
        }
        let before = storage.asked
        #expect(try await keychain.requireBiometricAuth())
        #expect(storage.asked == before + 1)
        try await keychain.enableBiometricAuth(false)
        #expect(try await !keychain.requireBiometricAuth())
        #expect(try storage.list().allSatisfy { try storage.accessControl(id: $0)?.requireBiometric == false })
    }

    @Test func `a guard that the configuration puts before the keys stays`() async throws {
        let config = RunarNodeConfig.createTestConfig()
        let storage = SensorStorage()
        config.keyStorage = storage
        config.keychainConfig = .iOSConfig(serviceName: "a", accessGroup: "group")
        let keychain = try RunarNode(config: config).keychain
        try await keychain.initializeUserRootKey()
        let before = try storage.accessControl(id: "root")
        #expect(before?.requireBiometric == true && before?.accessGroup == "group")
        try await keychain.enableBiometricAuth(true)
        try await keychain.enableBiometricAuth(false)
        #expect(try storage.accessControl(id: "root") == before)
    }

    @Test func `a node that requires a finger starts only where the storage enforces that`() async throws {
        func makeNode(_ keys: any KeyStorage) throws -> RunarNode {
            try Household().makeNode(keys: keys) { config in
                config.keychainConfig = RunarKeychainConfig(serviceName: "a")
                config.keychainConfig?.requireBiometric = true
            }
        }
        let guarded = try makeNode(SensorStorage())
        try await guarded.start()
        #expect(guarded.isRunning)
        await guarded.stop()
        let open = try makeNode(InMemoryKeyStorage())
        let error = await failure { try await open.start() }
        guard case .unsupported? = error as? KeychainError else { throw error ?? CancellationError() }
        #expect(!open.isRunning)
    }

    @Test func `a person who refuses keeps the keys closed`() async throws {
        let storage = SensorStorage()
        let keychain = RunarKeychain(keyStorage: storage)
        try await keychain.initializeUserRootKey()
        try await keychain.enableBiometricAuth(true)
        storage.refuse()
        await #expect(throws: KeychainError.denied) { try await keychain.requireBiometricAuth() }
        await #expect(throws: KeychainError.denied) { try await keychain.generateNetworkKey() }
    }
}
