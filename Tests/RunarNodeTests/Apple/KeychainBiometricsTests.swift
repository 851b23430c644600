#if canImport(Security)
internal import Testing

@testable internal import RunarNode

/// What the document's application finds in the Keychain.
@Suite("Biometrics of the document's application") struct KeychainBiometricsTests {
    /// Whether somebody agrees, a test cannot know; no node is made, which would ask.
    @Test func `the Keychain keeps a node that requires a finger from starting only where no sensor is`() {
        let config = RunarKeychainConfig(serviceName: "com.myapp.runar")
        config.requireBiometric = true
        let storage = KeychainStorage(service: config.serviceName)
        let isKept: Bool
        do {
            try KeyGuarding(config).check(storage)
            isKept = false
        } catch {
            isKept = true
        }
        #expect(isKept != storage.enforcesBiometrics)
    }
}
#endif
