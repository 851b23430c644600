#if canImport(Security)
public import Bytes
internal import Foundation
internal import LocalAuthentication
internal import Security

/// Keys in the Keychain of Apple's systems, each one a generic password.
///
/// On macOS this is the data protection Keychain, which requires a signed app with a Keychain access group. A program
/// without one gets an error with this reason; it can use a vault file instead.
public final class KeychainStorage: KeyStorage {
    private let service: String
    private let accessGroup: String?
    private let prompt: String
    private let answer: SharedAnswer

    /// Uses the items of `service`, such as the app's bundle identifier.
    ///
    /// - Parameters:
    ///   - service: The service name, which separates these keys from other items.
    ///   - accessGroup: The group of keys whose guard names no group; nil for the app's own.
    ///   - prompt: The text of the system's dialog for biometric authentication.
    public init(service: String, accessGroup: String? = nil, prompt: String = "Use your keys") {
        self.service = service
        self.accessGroup = accessGroup
        self.prompt = prompt
        answer = SharedAnswer(prompt: prompt)
    }

    /// Whether a biometric sensor is available and enrolled; the system then enforces the guard.
    public var enforcesBiometrics: Bool {
        var error: NSError?
        if unsafe LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) { return true }
        // Too many failed attempts lock the sensor, but it is present.
        return error?.code == LAError.biometryLockout.rawValue
    }

    /// Stores `key` under `id`; see ``KeyStorage/store(_:id:accessControl:)``.
    public func store(_ key: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError) {
        try KeyLimits.check(id: id)
        try KeyLimits.check(key, accessControl: accessControl)
        // An item cannot change its group, and of two items in different groups the system would return either one.
        if let earlier = try self.accessControl(id: id), earlier.accessGroup != accessControl.accessGroup {
            throw .unsupported("moving a key to another access group: delete it first")
        }
        let check = PersonCheck(accessControl, hasSensor: enforcesBiometrics)
        var values = try guardAttributes(accessControl, check)
        values[kSecAttrGeneric] = Self.encoded(accessControl, check)
        var data = key.withBytes { Data($0) }
        defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
        values[kSecValueData] = data

        var item = query(id: id)
        item[kSecAttrAccessGroup] = accessControl.accessGroup ?? accessGroup
        // A single call updates or adds the item, so that a failure leaves the previous key intact.
        var status = SecItemUpdate(item as CFDictionary, values as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(item.merging(values) { _, new in new } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw .unableToStore(Self.text(of: status)) }
    }

    /// Returns the key under `id`; see ``KeyStorage/retrieve(id:)``.
    ///
    /// A key that requires biometrics and was stored without a sensor is first guarded, once a sensor is available.
    public func retrieve(id: String) throws(KeychainError) -> SecretBytes? {
        let context = LAContext()
        context.localizedReason = prompt
        return try retrieve(id: id, with: context)
    }

    /// The keys under `ids`, for which one answer counts; see ``KeyStorage/retrieve(ids:)``.
    public func retrieve(ids: [String]) throws(KeychainError) -> [String: SecretBytes] {
        try answer.use { context throws(KeychainError) in
            var keys: [String: SecretBytes] = [:]
            for id in ids { keys[id] = try retrieve(id: id, with: context) }
            return keys
        }
    }

    private func retrieve(id: String, with context: LAContext) throws(KeychainError) -> SecretBytes? {
        try KeyLimits.check(id: id)
        let key = try read(id: id, with: context)
        if let key, let stored = try stored(id: id), stored.check == .missing, enforcesBiometrics {
            try store(key, id: id, accessControl: stored.accessControl)
            return try read(id: id, with: context)
        }
        return key
    }

    private func read(id: String, with context: LAContext) throws(KeychainError) -> SecretBytes? {
        var item = query(id: id)
        item[kSecReturnData] = true
        item[kSecUseAuthenticationContext] = context
        guard var data = try copy(item) as? Data else { return nil }
        defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
        return SecretBytes(copying: data)
    }

    /// The guard of `id`; see ``KeyStorage/accessControl(id:)``.
    public func accessControl(id: String) throws(KeychainError) -> AccessControl? {
        try KeyLimits.check(id: id)
        return try stored(id: id)?.accessControl
    }

    /// Returns the guard that was requested for the key under `id`, and the check that guards it; nil if there is none.
    private func stored(id: String) throws(KeychainError) -> (accessControl: AccessControl, check: PersonCheck)? {
        guard let attributes = try attributes(of: query(id: id)).first else { return nil }
        guard let encoded = attributes[kSecAttrGeneric] as? Data,
            let stored = Self.decoded(encoded, group: attributes[kSecAttrAccessGroup] as? String)
        else { throw .unableToRead("the item of \(id) was not stored by this program") }
        return stored
    }

    /// Removes `id`; see ``KeyStorage/delete(id:)``.
    public func delete(id: String) throws(KeychainError) {
        try KeyLimits.check(id: id)
        let status = SecItemDelete(query(id: id) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw .unableToStore(Self.text(of: status))
        }
    }

    /// All ids; see ``KeyStorage/list()``.
    public func list() throws(KeychainError) -> [String] {
        let found = try attributes(of: query()).compactMap { $0[kSecAttrAccount] as? String }
        // One id can stand in several groups.
        return Set(found).sorted(by: KeyLimits.areInOrder)
    }

    /// Returns whether a key is stored under `id`; see ``KeyStorage/exists(id:)``.
    public func exists(id: String) throws(KeychainError) -> Bool {
        try KeyLimits.check(id: id)
        return try !attributes(of: query(id: id)).isEmpty
    }

    private func query(id: String? = nil) -> [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: service,
            kSecUseDataProtectionKeychain: true,
            kSecAttrSynchronizable: false,
        ]
        if let id { query[kSecAttrAccount] = id }
        return query
    }

    /// The attributes of the items that match, none of which asks the person anything.
    private func attributes(of query: [CFString: Any]) throws(KeychainError) -> [[CFString: Any]] {
        var query = query
        query[kSecReturnAttributes] = true
        query[kSecMatchLimit] = kSecMatchLimitAll
        return try copy(query) as? [[CFString: Any]] ?? []
    }

    private func copy(_ query: [CFString: Any]) throws(KeychainError) -> CFTypeRef? {
        var result: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
        switch status {
        case errSecSuccess: return result
        case errSecItemNotFound: return nil
        case errSecUserCanceled, errSecAuthFailed: throw .denied
        // The person was not asked and refused nothing, so a node may start again as soon as its app is active.
        case errSecInteractionNotAllowed:
            throw .unableToRead("the device is locked, or the app is not active: unlock it and try again")
        default: throw .unableToRead(Self.text(of: status))
        }
    }

    /// Returns the attributes that determine when the item can be read, and after which authentication.
    private func guardAttributes(
        _ accessControl: AccessControl,
        _ check: PersonCheck
    ) throws(KeychainError) -> [CFString: Any] {
        let protection = Self.protection(of: accessControl.accessibleWhen)
        // The currently enrolled biometrics only: ones that are added later do not open the key. With the password another
        // one can be enrolled anyway, so if the password suffices, any biometrics do.
        let flags: SecAccessControlCreateFlags
        switch check {
        case .none, .missing: return [kSecAttrAccessible: protection]
        case .biometrics: flags = .biometryCurrentSet
        case .biometricsOrPassword: flags = .userPresence
        }
        var error: Unmanaged<CFError>?
        guard let control = unsafe SecAccessControlCreateWithFlags(nil, protection, flags, &error) else {
            let reason = unsafe error?.takeRetainedValue().localizedDescription ?? "no reason was given"
            throw .unsupported("biometric protection: \(reason)")
        }
        return [kSecAttrAccessControl: control]
    }

    private static func protection(of when: AccessibleWhen) -> CFString {
        switch when {
        case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
        case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
        case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        }
    }

    /// Encodes the guard as an attribute of the item, since the system does not return it in full.
    private static func encoded(_ accessControl: AccessControl, _ check: PersonCheck) -> Data {
        let when = AccessibleWhen.allCases.firstIndex(of: accessControl.accessibleWhen) ?? 0
        let hasGroup: UInt8 = accessControl.accessGroup == nil ? 0 : 1
        return Data([1, UInt8(when), check.rawValue, hasGroup])
    }

    private static func decoded(_ data: Data, group: String?) -> (accessControl: AccessControl, check: PersonCheck)? {
        let bytes = [UInt8](data)
        guard bytes.count == 4, bytes[0] == 1, Int(bytes[1]) < AccessibleWhen.allCases.count,
            let check = PersonCheck(rawValue: bytes[2])
        else { return nil }
        let accessControl = AccessControl(
            requireBiometric: check.isRequired,
            acceptsPassword: check == .biometricsOrPassword,
            accessibleWhen: AccessibleWhen.allCases[Int(bytes[1])],
            accessGroup: bytes[3] == 1 ? group : nil
        )
        return (accessControl, check)
    }

    private static func text(of status: OSStatus) -> String {
        if status == errSecMissingEntitlement {
            return "this program has no Keychain access group: sign it with one, or keep the keys in a vault file"
        }
        let text = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "no words for it"
        return "\(text) (\(status))"
    }
}
#endif
