/// The guard that the system puts on a stored key.
public struct AccessControl: Sendable, Hashable {
    /// Whether a person must show a finger or face before the key can be read.
    ///
    /// Systems without such a sensor store the key anyway and remember the requirement; see
    /// ``KeyStorage/enforcesBiometrics``.
    public var requireBiometric: Bool
    /// Whether the person's password or the device's passcode is accepted in place of the finger or face, as on a
    /// machine without a sensor.
    public var acceptsPassword: Bool
    /// In which state of the device the key can be read.
    public var accessibleWhen: AccessibleWhen
    /// The group of apps that share the key, or nil for this app alone.
    public var accessGroup: String?

    /// Describes a guard; by default the key can be read on this device alone, while it is unlocked.
    public init(
        requireBiometric: Bool = false,
        acceptsPassword: Bool = false,
        accessibleWhen: AccessibleWhen = .whenUnlockedThisDeviceOnly,
        accessGroup: String? = nil
    ) {
        self.requireBiometric = requireBiometric
        self.acceptsPassword = acceptsPassword
        self.accessibleWhen = accessibleWhen
        self.accessGroup = accessGroup
    }

    /// Touch ID or Face ID on an iPhone or iPad, on this device alone.
    public static func iosBiometricRequired() -> AccessControl {
        AccessControl(requireBiometric: true)
    }

    /// Touch ID on a Mac, on this device alone, where the Secure Enclave checks the finger before the Keychain gives
    /// the key.
    ///
    /// The key itself is in the Keychain: the Secure Enclave makes P-256 keys only, and ours are Ed25519.
    public static func macosSecureEnclave() -> AccessControl {
        AccessControl(requireBiometric: true)
    }

    /// Shared by the apps of `group` and their extensions on this device, also while it is locked again after a start.
    public static func appGroup(_ group: String) -> AccessControl {
        AccessControl(accessibleWhen: .afterFirstUnlockThisDeviceOnly, accessGroup: group)
    }
}

/// In which state of the device a key can be read, and whether it may move to another one with a backup.
public enum AccessibleWhen: Sendable, Hashable, CaseIterable {
    /// While the device is unlocked.
    case whenUnlocked
    /// While the device is unlocked; never on another device.
    case whenUnlockedThisDeviceOnly
    /// From the first unlocking after a start.
    case afterFirstUnlock
    /// From the first unlocking after a start; never on another device.
    case afterFirstUnlockThisDeviceOnly
}
