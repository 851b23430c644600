#if canImport(Security)
internal import Foundation
@testable internal import Platform
internal import Testing

@Suite("Keychain") struct KeychainTests {
    /// The data protection Keychain refuses programs without an access group, which test runners often are.
    private static var isUsable: Bool {
        (try? KeychainStorage(service: "runar.tests.probe").list()) != nil  // Only whether it answers matters.
    }

    @Test(.enabled(if: isUsable))
    func `the Keychain keeps the promises of a key storage`() throws {
        let storage = KeychainStorage(service: "runar.tests.\(UUID().uuidString)")
        try KeyStorageConformance(storage: storage) { storage }.check()
    }
}
#endif
