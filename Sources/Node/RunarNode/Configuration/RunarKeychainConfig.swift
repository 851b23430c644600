/// The location of a node's keys, and their protection by the system.
///
/// All fields exist on every system. Those that only Apple's systems can honour are stored but not enforced elsewhere,
/// with one exception: a node that requires biometrics does not start where the system does not enforce them, be it by
/// ``requireBiometric`` or by ``useTouchID`` without ``allowApplicationPassword``.
public final class RunarKeychainConfig {
    /// The namespace of this app's keys, such as its bundle identifier; it names the device's identity.
    public let serviceName: String
    /// The group of apps that share the keys, on Apple's systems.
    public var accessGroup: String?
    /// Whether a person must show a finger or face before the keys can be read; `start()` throws
    /// ``KeychainError/unsupported(_:)`` where no system enforces it.
    public var requireBiometric = false
    /// Whether the keys can be read while the device is locked, so that the node can run in the background.
    public var allowBackgroundAccess = false
    /// Whether stored keys are wrapped by a key of the Secure Enclave, on Apple's systems that have one.
    public var useSecureEnclave = true
    /// In which state of the device the keys can be read, on Apple's systems.
    ///
    /// A key that is not for this device only is part of the device's backups, and two devices may have it after one was
    /// restored. Members then see one device in two places.
    public var accessibleWhen = KeychainAccessible.whenUnlockedThisDeviceOnly
    /// Whether a Mac asks for Touch ID before the keys are read, or for the substitute that ``allowApplicationPassword``
    /// permits.
    public var useTouchID = false
    /// Whether a password may replace Touch ID, which ``useTouchID`` requires.
    ///
    /// On Apple's systems it is the person's password or the device's passcode. Without a Keychain, the passphrase or key
    /// file of the vault replaces it, and the system asks for no biometrics. If false, biometrics are required: `start()`
    /// throws ``KeychainError/unsupported(_:)`` on a system that cannot enforce them.
    public var allowApplicationPassword = true

    /// Keys of a service, readable on this device alone while it is unlocked.
    public init(serviceName: String) {
        self.serviceName = serviceName
    }

    /// For tests.
    public static func testConfig() -> RunarKeychainConfig { RunarKeychainConfig(serviceName: "com.runar.test") }

    /// For an iPhone or iPad: a finger or a face, on this device alone.
    public static func iOSConfig(serviceName: String, accessGroup: String? = nil) -> RunarKeychainConfig {
        let config = RunarKeychainConfig(serviceName: serviceName)
        config.accessGroup = accessGroup
        config.requireBiometric = true
        config.useSecureEnclave = true
        return config
    }

    /// For a Mac: a finger, or the person's password.
    public static func macOSConfig(serviceName: String) -> RunarKeychainConfig {
        let config = RunarKeychainConfig(serviceName: serviceName)
        config.useTouchID = true
        config.allowApplicationPassword = true
        return config
    }
}

/// In which state of the device a key can be read, and whether it may move to another one with a backup.
public enum KeychainAccessible: Int, CaseIterable, Codable, Sendable {
    /// While the device is unlocked.
    case whenUnlocked = 0
    /// While the device is unlocked; never on another device.
    case whenUnlockedThisDeviceOnly = 1
    /// From the first unlocking after a start.
    case afterFirstUnlock = 2
    /// From the first unlocking after a start; never on another device.
    case afterFirstUnlockThisDeviceOnly = 3
}
