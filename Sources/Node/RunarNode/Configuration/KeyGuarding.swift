internal import Bytes
internal import Platform

/// The guard that a configuration puts before a node's keys.
struct KeyGuarding: Hashable, Sendable {
    /// Whether the node must not start if its key storage does not enforce biometrics.
    let requiresBiometrics: Bool
    let accessControl: AccessControl
    /// Whether the keys may be used while the app is in the background, so that the node may continue to run there.
    let allowsBackgroundAccess: Bool

    init(_ config: RunarKeychainConfig?) {
        requiresBiometrics = config?.requiresBiometrics ?? false
        allowsBackgroundAccess = config?.allowBackgroundAccess ?? false
        guard let config else {
            accessControl = AccessControl()
            return
        }
        accessControl = AccessControl(
            requireBiometric: config.requireBiometric || config.useTouchID,
            acceptsPassword: config.useTouchID && !config.requiresBiometrics,
            accessibleWhen: AccessibleWhen(config.accessibleWhen, inBackground: config.allowBackgroundAccess),
            accessGroup: config.accessGroup
        )
    }

    /// - Throws: ``KeychainError/unsupported(_:)`` when biometrics are required and `storage` does not enforce them.
    func check(_ storage: any KeyStorage) throws(KeychainError) {
        guard !requiresBiometrics || storage.enforcesBiometrics else {
            throw .unsupported(
                "asking for biometrics before keys are read (requireBiometric, or useTouchID without"
                    + " allowApplicationPassword)"
            )
        }
    }
}

extension RunarKeychainConfig {
    /// Whether biometric authentication is required, without a password as a fallback.
    fileprivate var requiresBiometrics: Bool {
        requireBiometric || (useTouchID && !allowApplicationPassword)
    }
}

extension AccessibleWhen {
    /// The protection of the Keychain for a configured state; in the background the device may be locked.
    init(_ accessible: KeychainAccessible, inBackground: Bool) {
        self =
            switch accessible {
            case .whenUnlocked: inBackground ? .afterFirstUnlock : .whenUnlocked
            case .whenUnlockedThisDeviceOnly:
                inBackground ? .afterFirstUnlockThisDeviceOnly : .whenUnlockedThisDeviceOnly
            case .afterFirstUnlock: .afterFirstUnlock
            case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
            }
    }
}

/// A storage in which keys get the guard that the node's configuration asks for.
struct GuardedKeys: KeyStorage {
    private let storage: any KeyStorage
    private let accessControl: AccessControl

    init(_ storage: any KeyStorage, _ guarding: KeyGuarding) {
        self.storage = storage
        accessControl = guarding.accessControl
    }

    var enforcesBiometrics: Bool { storage.enforcesBiometrics }

    func store(_ key: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError) {
        let isStandard = accessControl == AccessControl()
        try storage.store(key, id: id, accessControl: isStandard ? self.accessControl : accessControl)
    }

    func retrieve(id: String) throws(KeychainError) -> SecretBytes? { try storage.retrieve(id: id) }

    func retrieve(ids: [String]) throws(KeychainError) -> [String: SecretBytes] { try storage.retrieve(ids: ids) }

    func accessControl(id: String) throws(KeychainError) -> AccessControl? { try storage.accessControl(id: id) }

    func delete(id: String) throws(KeychainError) { try storage.delete(id: id) }

    func list() throws(KeychainError) -> [String] { try storage.list() }

    func exists(id: String) throws(KeychainError) -> Bool { try storage.exists(id: id) }
}
