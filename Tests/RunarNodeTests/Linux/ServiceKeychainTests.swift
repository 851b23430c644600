#if os(Linux)
internal import Foundation
internal import Testing

@testable internal import RunarNode

/// The keys of a service, which lie in a directory of their own where there is no Keychain.
@Suite("Keychain of a service") struct ServiceKeychainTests {
    @Test func `the keychain of a service is that of its node, and one at a time`() async throws {
        let config = RunarKeychainConfig(serviceName: "keychain-test-\(UInt64.random(in: .min ... .max))")
        let directory = try NodeStores.directory(ofService: config.serviceName)
        defer { try? FileManager.default.removeItem(atPath: directory) }  // it is a test's own
        config.requireBiometric = true
        #expect(throws: KeychainError.self) { try RunarKeychain(config: config) }
        config.requireBiometric = false
        var keychain: RunarKeychain? = try RunarKeychain(config: config)
        let root = try await keychain?.initializeUserRootKey()
        #expect(throws: RunarError.self) { try RunarKeychain(config: config) }
        keychain = nil
        let again = try RunarKeychain(config: config)
        #expect(try await again.getUserRootPublicKey() == root)
    }
}
#endif
