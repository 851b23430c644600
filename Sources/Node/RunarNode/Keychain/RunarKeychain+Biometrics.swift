internal import Bytes
internal import Platform

// A finger or a face before the person's keys: root, networks, personas. The device's own key is not among them, so
// that a node can start unattended.
extension RunarKeychain {
    private static let requirementId = "biometric-auth"

    /// Enables or disables the system's prompt for a finger or a face at each use of a key of the person.
    ///
    /// With it on, whatever signs for a network asks, the renewal of members' tokens by this device included. A guard that
    /// the configuration requires (``RunarKeychainConfig/requireBiometric``) stays.
    ///
    /// - Throws: ``KeychainError/unsupported(_:)`` when this storage cannot ask; ``KeychainError``, after which some keys
    ///   may be guarded the new way and others the old.
    public func enableBiometricAuth(_ enabled: Bool) async throws {
        guard !enabled || keys.enforcesBiometrics else {
            throw KeychainError.unsupported(
                "this key storage cannot ask for biometrics: turn them off, or keep the keys in the Keychain"
            )
        }
        // The requirement is stored first: a key that is made meanwhile is guarded, too.
        if enabled {
            try storePublic([1], id: Self.requirementId)
        } else {
            try keys.delete(id: Self.requirementId)
        }
        for id in try keys.list() where Self.isPersonal(id) {
            let isGuarded = enabled || guarding.requireBiometric
            guard let key = try keys.retrieve(id: id),
                var accessControl = try keys.accessControl(id: id),
                accessControl.requireBiometric != isGuarded
            else { continue }
            accessControl.requireBiometric = isGuarded
            try keys.store(key, id: id, accessControl: accessControl)
        }
    }

    /// Asks for a finger or a face now; returns whether one was asked for, which it is not while nothing is guarded.
    ///
    /// - Throws: ``KeychainError/denied`` when the person refused; ``KeychainError/unsupported(_:)`` when a guard is
    ///   requested for that this storage does not keep.
    public func requireBiometricAuth() async throws -> Bool {
        let guarded = try keys.list().first { id in
            guard Self.isPersonal(id) else { return false }
            guard let guarding = try keys.accessControl(id: id), guarding.requireBiometric else { return false }
            // The secret that opened a storage without a prompt replaces the finger where a password is accepted.
            return keys.enforcesBiometrics || !guarding.acceptsPassword
        }
        guard let guarded else { return false }
        guard keys.enforcesBiometrics else {
            throw KeychainError.unsupported(
                "keys that need biometrics are in a storage that cannot ask for them"
            )
        }
        // Reading the key triggers the system's prompt; the key is released at once.
        return try keys.retrieve(id: guarded) != nil
    }

    /// Whether the person chose to be asked.
    func wantsBiometrics() throws -> Bool { try keys.exists(id: Self.requirementId) }
}
