#if os(Linux)
internal import Foundation
internal import Testing

@testable internal import RunarNode

/// The document's application on a system without a Keychain.
@Suite("Biometrics of the document's application") struct VaultBiometricsTests {
    @Test func `a node that requires biometrics is created and does not start on Linux`() async throws {
        let service = "document-test-\(UInt64.random(in: .min ... .max))"
        let directory = try NodeStores.directory(ofService: service)
        defer { try? FileManager.default.removeItem(atPath: directory) }  // it is a test's own
        let config = RunarNodeConfig(nodeId: "ios-app-node", defaultNetworkId: "my-network")
        config.keychainConfig = RunarKeychainConfig(serviceName: service)
        config.keychainConfig?.requireBiometric = true
        let node = try RunarNode(config: config)
        let error = await failure { try await node.start() }
        guard case .unsupported? = error as? KeychainError else { throw error ?? CancellationError() }
        #expect(!node.isRunning)
    }
}
#endif
