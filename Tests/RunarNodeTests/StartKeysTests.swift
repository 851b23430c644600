internal import Concurrency
internal import Dispatch
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import RunarNode

/// The reads of the keys that a start needs.
@Suite("Keys of a start", .timeLimit(.minutes(5))) struct StartKeysTests {
    @Test func `a launch asks the person once, and a return within the time of an answer does not`() async throws {
        let directory = try TemporaryDirectory()
        let (household, storage) = (Household(), SensorStorage())
        func launch() throws -> RunarNode {
            try household.makeNode(keys: storage, statePath: directory.file("state.sqlite")) {
                $0.keychainConfig = .iOSConfig(serviceName: "a", accessGroup: nil)
            }
        }
        let peerId: PeerId
        do {
            let first = try launch()
            #expect(storage.asked == 0)
            peerId = first.peerId
            for name in ["Home", "Work"] { _ = try first.createNetwork(name: name) }
            try await first.start()
            await first.stop()
        }

        storage.pass(AnswerWindow.duration)
        let before = storage.asked
        let node = try launch()
        #expect(node.peerId == peerId)
        #expect(storage.asked == before)
        try await node.start()
        #expect(storage.asked == before + 1)
        await node.stop()
        try await node.start()
        #expect(storage.asked == before + 1)
        await node.stop()

        storage.pass(AnswerWindow.duration)
        try await node.start()
        #expect(storage.asked == before + 2)
        await node.stop()
    }

    @Test func `an answer for a start does not release a key to another reader`() async throws {
        let storage = SensorStorage()
        let node = try Household().makeNode(keys: storage) {
            $0.keychainConfig = .iOSConfig(serviceName: "a", accessGroup: nil)
        }
        try await node.start()
        let before = storage.asked
        _ = try node.config.keyStorage.retrieve(id: KeyId.peer.rawValue)
        #expect(storage.asked == before + 1)
        await node.stop()
    }

    /// A storage of which one kind of read waits until the main actor has run something else.
    private final class WaitingKeys: KeyStorage {
        enum Read { case single, batch }

        private let waiting: Read
        private let permit = DispatchSemaphore(value: 0)
        let wasPermitted = Locked(false)
        private let keys = InMemoryKeyStorage()

        init(waiting: Read) { self.waiting = waiting }

        var enforcesBiometrics: Bool { false }

        func store(_ key: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError) {
            try self.keys.store(key, id: id, accessControl: accessControl)
        }

        func retrieve(id: String) throws(KeychainError) -> SecretBytes? {
            self.waitForPermit(.single)
            return try self.keys.retrieve(id: id)
        }

        func retrieve(ids: [String]) throws(KeychainError) -> [String: SecretBytes] {
            self.waitForPermit(.batch)
            return try self.keys.retrieve(ids: ids)
        }

        private func waitForPermit(_ read: Read) {
            guard read == self.waiting, !self.wasPermitted.withLock({ $0 }) else { return }
            // Straight to the main actor: this read blocks one of the few threads of tasks, and another test may block
            // another one.
            Task { @MainActor in self.permit.signal() }
            // A bound, so that a test that fails ends.
            let result = self.permit.wait(timeout: .now() + .seconds(60))
            self.wasPermitted.withLock { $0 = result == .success }
        }

        func accessControl(id: String) throws(KeychainError) -> AccessControl? { try self.keys.accessControl(id: id) }

        func delete(id: String) throws(KeychainError) { try self.keys.delete(id: id) }

        func list() throws(KeychainError) -> [String] { try self.keys.list() }

        func exists(id: String) throws(KeychainError) -> Bool { try self.keys.exists(id: id) }
    }

    @MainActor @Test func `a start that waits for the person leaves the caller's actor free`() async throws {
        let keys = WaitingKeys(waiting: .batch)
        let node = try Household().makeNode(keys: keys)
        try await node.start()
        #expect(keys.wasPermitted.withLock { $0 })
        await node.stop()
    }

    @MainActor @Test func `a node is opened without its storage keeping the caller's actor`() async throws {
        let keys = WaitingKeys(waiting: .single)
        let config = RunarNodeConfig.createTestConfig()
        config.keyStorage = keys
        #expect(try await !RunarNode.open(config: config).isRunning)
        #expect(keys.wasPermitted.withLock { $0 })
    }

    @Test func `a key that is stored or deleted after a batch is read from the storage`() throws {
        let (inner, old, new) = (InMemoryKeyStorage(), SecretBytes(copying: [1]), SecretBytes(copying: [2]))
        for id in ["a", "b", "c"] { try inner.store(old, id: id) }
        let keys = PrefetchedKeys(inner)
        try keys.prefetch(["a", "b", "c", "none"])
        try keys.store(new, id: "a")
        try keys.delete(id: "b")
        try inner.store(new, id: "c")
        #expect(try keys.retrieve(id: "a") == new)
        #expect(try keys.retrieve(id: "b") == nil)
        #expect(try keys.retrieve(id: "c") == old)
        keys.forget()
        #expect(try keys.retrieve(id: "c") == new)
    }
}
