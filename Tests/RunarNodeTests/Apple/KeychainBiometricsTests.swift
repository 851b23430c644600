#if canImport(Security)
internal import Foundation
internal import LocalAuthentication
internal import Testing

@testable internal import RunarNode

/// The Keychain's part in the document's application.
@Suite("Biometrics of the document's application") struct KeychainBiometricsTests {
    /// No node is started, which would ask the person who runs the tests.
    @Test func `a node that requires a finger may start only where the system has a sensor that knows one`() {
        let config = RunarKeychainConfig(serviceName: "com.myapp.runar")
        config.requireBiometric = true
        var isAllowed = true
        do {
            try KeyGuarding(config).check(KeychainStorage(service: config.serviceName))
        } catch {
            isAllowed = false
        }
        var error: NSError?
        let context = LAContext()
        let canAsk = unsafe context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
        let isLockedOut = error?.code == LAError.biometryLockout.rawValue
        #expect(isAllowed == (canAsk || isLockedOut))
    }
}
#endif
