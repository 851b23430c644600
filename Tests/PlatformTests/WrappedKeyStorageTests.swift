internal import Bytes
internal import Crypto
internal import Foundation
internal import Platform
internal import TestSupport
internal import Testing

/// Keys wrapped by a P-256 key, with one in software in the place of a Secure Enclave's.
@Suite("Wrapped key storage") struct WrappedKeyStorageTests {
    private let inner = InMemoryKeyStorage()
    private let key = P256.KeyAgreement.PrivateKey()
    private var storage: WrappedKeyStorage<P256.KeyAgreement.PrivateKey> { WrappedKeyStorage(inner, key: key) }
    private let secret = SecretBytes(copying: Array("a secret of thirty-two bytes....".utf8))

    @Test func `a key comes back as it was, and lies below as something else`() throws {
        let guarded = AccessControl(requireBiometric: true, accessibleWhen: .afterFirstUnlock, accessGroup: "g")
        try storage.store(secret, id: "peer", accessControl: guarded)
        #expect(try storage.retrieve(id: "peer") == secret)
        #expect(try storage.accessControl(id: "peer") == guarded)
        #expect(try storage.list() == ["peer"] && storage.exists(id: "peer"))
        let below = try #require(try inner.retrieve(id: "peer"))
        #expect(below.withBytes { bytes in secret.withBytes { bytes.firstRange(of: $0) == nil } })
        try storage.store(secret, id: "peer")
        #expect(try inner.retrieve(id: "peer") != below, "wrapping twice gives the same bytes")
        try storage.delete(id: "peer")
        #expect(try storage.retrieve(id: "peer") == nil && inner.list().isEmpty)
    }

    @Test func `keys that are read together are opened, each by its own id`() throws {
        try storage.store(secret, id: "peer")
        try storage.store(SecretBytes(copying: [1]), id: "reset")
        try inner.store(SecretBytes(copying: [2]), id: "bare")
        let keys = try storage.retrieve(ids: ["peer", "reset", "bare", "none"])
        let expected = [
            "peer": secret, "reset": SecretBytes(copying: [1]), "bare": SecretBytes(copying: [2]),
        ]
        #expect(keys == expected)
    }

    @Test func `another device's key does not open it, and it is never taken for a bare key`() throws {
        try storage.store(secret, id: "peer")
        let other = WrappedKeyStorage(inner, key: P256.KeyAgreement.PrivateKey())
        let error = #expect(throws: KeychainError.self) { try other.retrieve(id: "peer") }
        guard case .unableToRead? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a wrapped key does not open under another id, nor with any byte changed`() throws {
        try storage.store(secret, id: "root")
        let wrapped = try #require(try inner.retrieve(id: "root")).withBytes { $0 }
        try inner.store(SecretBytes(copying: wrapped), id: "peer")
        #expect(throws: KeychainError.self) { try storage.retrieve(id: "peer") }
        for index in 16..<wrapped.count {
            var changed = wrapped
            changed[index] ^= 1
            try inner.store(SecretBytes(copying: changed), id: "root")
            #expect(throws: KeychainError.self, "byte \(index)") { try storage.retrieve(id: "root") }
        }
    }

    @Test func `a key from before the wrapping is read, and wrapped when it is stored again`() throws {
        try inner.store(secret, id: "peer")
        #expect(try storage.retrieve(id: "peer") == secret)
        try storage.store(secret, id: "peer")
        #expect(try inner.retrieve(id: "peer") != secret)
        #expect(try storage.retrieve(id: "peer") == secret)
    }

    @Test func `the largest key fits, a larger one and an empty one are refused`() throws {
        let limit = WrappedKeyStorage<P256.KeyAgreement.PrivateKey>.keyByteLimit
        let largest = SecretBytes(copying: [UInt8](repeating: 7, count: limit))
        try storage.store(largest, id: "large")
        #expect(try storage.retrieve(id: "large") == largest)
        for count in [0, limit + 1] {
            #expect(throws: KeychainError.invalidKey(byteCount: count)) {
                try storage.store(SecretBytes(copying: [UInt8](repeating: 7, count: count)), id: "large")
            }
        }
        #expect(throws: KeychainError.invalidKeyId("")) { try storage.store(secret, id: "") }
    }

    @Test func `damaged wrapped keys never crash`() throws {
        try storage.store(secret, id: "peer")
        let wrapped = try #require(try inner.retrieve(id: "peer")).withBytes { $0 }
        neverCrash(on: [wrapped], rounds: 500) { bytes in
            try inner.store(SecretBytes(copying: bytes), id: "peer")
            _ = try storage.retrieve(id: "peer")
        }
    }
}

@Suite("Key protection plan") struct KeyProtectionPlanTests {
    @Test(arguments: [
        (false, false, false, KeyProtectionPlan.plain), (false, true, false, .plain), (true, false, false, .plain),
        (true, true, false, .makeWrappingKey), (true, true, true, .wrapped), (false, true, true, .wrapped),
        (true, false, true, .refused), (false, false, true, .refused),
    ])
    func `what is done follows from the configuration, the enclave and what is stored`(
        isRequired: Bool,
        hasEnclave: Bool,
        hasWrappingKey: Bool,
        plan: KeyProtectionPlan
    ) {
        let made = KeyProtectionPlan(isRequired: isRequired, hasEnclave: hasEnclave, hasWrappingKey: hasWrappingKey)
        #expect(made == plan)
    }
}
