package import Bytes
internal import Concurrency
package import Identity
package import Platform
package import RegistrationModel

/// The secrets of a registration in the key storage: the key of the DID, the token, and the names of the account.
///
/// Apps of one publisher share the items by the access group. Calls that make or delete the key must not overlap.
package final class KeychainManager: Sendable {
    /// The group of the apps that share the items.
    package static let accessGroup = "com.arkavo.webauthn"

    /// The items by their ids in the storage.
    package enum Item: String, CaseIterable, Sendable {
        /// The token that the identity server issued.
        case authenticationToken = "authentication_token"
        /// The last second since 1970 at which the token is valid, in decimal digits.
        case authenticationTokenExpiry = "authentication_token_expiry"
        /// The private half of the DID's key, or its handle in the Secure Enclave.
        case didKey = "did_key"
        /// The text of the DID, for apps of the group that need no key.
        case did = "did"
        /// The handle, the DID and the id of the user.
        case credentials = "arkavo_credentials"
    }

    /// The lock that makes comparing and changing the token one step for all managers of this process.
    private static let changingToken = Locked(())

    private let storage: any KeyStorage
    private let place: any DIDKeyPlace
    private let group: String?

    /// Uses a storage, and a place for the key of the DID.
    ///
    /// `accessGroup` is nil for a program that is not signed with the group.
    package init(
        storage: any KeyStorage,
        place: any DIDKeyPlace = SoftwareDIDKeys(),
        accessGroup: String? = KeychainManager.accessGroup
    ) {
        self.storage = storage
        self.place = place
        group = accessGroup
    }

    // MARK: DID

    /// Makes a key and stores it with its DID.
    ///
    /// A stored key is never replaced, because its DID may be registered: ``deleteDIDKey()`` removes it first.
    ///
    /// - Throws: `KeychainError`.
    @discardableResult package func generateAndSaveDIDKey() throws(KeychainError) -> DIDKey {
        guard try getDIDKey() == nil else {
            throw .unsupported("replacing the key of a DID: delete that key first, and the DID with it")
        }
        let key = try place.makeKey()
        let did = DIDKey(try place.publicKey(of: key))
        try store(key, as: .didKey, .whenUnlockedThisDeviceOnly)
        try store(SecretBytes(copying: Array(did.description.utf8)), as: .did)
        return did
    }

    /// Returns the DID of the stored key, or nil without one.
    ///
    /// - Throws: `KeychainError`.
    package func getDIDKey() throws(KeychainError) -> DIDKey? {
        guard let key = try storage.retrieve(id: Item.didKey.rawValue) else { return nil }
        return DIDKey(try place.publicKey(of: key))
    }

    /// Returns the DID of the stored key, or of a new one.
    ///
    /// The text of the DID is stored again if it is missing, as after a crash between key and text.
    ///
    /// - Throws: `KeychainError`.
    package func getOrGenerateDIDKey() throws(KeychainError) -> DIDKey {
        guard let did = try getDIDKey() else { return try generateAndSaveDIDKey() }
        let text = SecretBytes(copying: Array(did.description.utf8))
        if try storage.retrieve(id: Item.did.rawValue) != text { try store(text, as: .did) }
        return did
    }

    /// Removes the key and its DID.
    ///
    /// The account with this DID keeps its passkeys, but no new proof of the DID is possible.
    ///
    /// - Throws: `KeychainError`.
    package func deleteDIDKey() throws(KeychainError) {
        try storage.delete(id: Item.did.rawValue)
        try storage.delete(id: Item.didKey.rawValue)
    }

    /// Proves for one registration that this device has the key of its DID.
    ///
    /// - Throws: `KeychainError`, also if no key is stored.
    package func didProof(challenge: [UInt8], rpId: String, handle: Handle) throws(KeychainError) -> DIDProof {
        guard let key = try storage.retrieve(id: Item.didKey.rawValue) else {
            throw .unableToRead("this device has no key of a DID: make one first")
        }
        let did = DIDKey(try place.publicKey(of: key))
        let message = DIDProof.signedBytes(challenge: challenge, rpId: rpId, handle: handle, did: did)
        let signature = try place.signature(by: key, for: message)
        do { return try DIDProof(signature) } catch { throw .unableToRead("\(error)") }
    }

    // MARK: Token

    /// Stores a token in place of an earlier one, with the last second since 1970 at which it is valid.
    ///
    /// - Throws: `KeychainError`, for example `invalidKey` for a token larger than the storage accepts.
    package func saveAuthenticationToken(_ token: SecretBytes, expires: UInt64? = nil) throws(KeychainError) {
        try Self.changingToken.withLock { _ throws(KeychainError) in try storeToken(token, expires: expires) }
    }

    /// Stores the token and the names of a refreshed session, if `former` is still the stored token.
    ///
    /// - Returns: Whether a token is stored then: false if `former` was removed meanwhile.
    /// - Throws: `KeychainError`.
    func replaceAuthenticationToken(_ former: SecretBytes, by refreshed: SignedIn) throws(KeychainError) -> Bool {
        try Self.changingToken.withLock { _ throws(KeychainError) -> Bool in
            guard let stored = try getAuthenticationToken() else { return false }
            guard stored == former else { return true }
            try storeToken(refreshed.token, expires: refreshed.expires)
            try saveArkavoCredentials(refreshed.account)
            return true
        }
    }

    /// Returns the stored token, or nil without one.
    ///
    /// - Throws: `KeychainError`.
    package func getAuthenticationToken() throws(KeychainError) -> SecretBytes? {
        try storage.retrieve(id: Item.authenticationToken.rawValue)
    }

    /// Returns the last second since 1970 at which the stored token is valid, or nil if that is unknown.
    ///
    /// Clients cannot read the token itself: it is sealed for its audience.
    ///
    /// - Throws: `KeychainError`.
    package func getAuthenticationTokenExpiry() throws(KeychainError) -> UInt64? {
        try storage.retrieve(id: Item.authenticationTokenExpiry.rawValue)
            .flatMap { stored in stored.withBytes { UInt64(String(decoding: $0, as: UTF8.self)) } }
    }

    /// Removes the token, if there is one.
    ///
    /// - Throws: `KeychainError`.
    package func deleteAuthenticationToken() throws(KeychainError) {
        try Self.changingToken.withLock { _ throws(KeychainError) in try deleteToken() }
    }

    /// Removes the token, and returns it, or nil without one.
    ///
    /// - Throws: `KeychainError`.
    func takeAuthenticationToken() throws(KeychainError) -> SecretBytes? {
        try Self.changingToken.withLock { _ throws(KeychainError) -> SecretBytes? in
            guard let token = try getAuthenticationToken() else { return nil }
            try deleteToken()
            return token
        }
    }

    private func storeToken(_ token: SecretBytes, expires: UInt64?) throws(KeychainError) {
        try store(token, as: .authenticationToken)
        if let expires {
            try store(SecretBytes(copying: Array("\(expires)".utf8)), as: .authenticationTokenExpiry)
        } else {
            try storage.delete(id: Item.authenticationTokenExpiry.rawValue)
        }
    }

    private func deleteToken() throws(KeychainError) {
        try storage.delete(id: Item.authenticationToken.rawValue)
        try storage.delete(id: Item.authenticationTokenExpiry.rawValue)
    }

    // MARK: Account

    /// Stores the names of the account in place of earlier ones.
    ///
    /// - Throws: `KeychainError`.
    package func saveArkavoCredentials(_ credentials: ArkavoCredentials) throws(KeychainError) {
        try store(SecretBytes(copying: credentials.encoded()), as: .credentials)
    }

    /// Returns the stored names of the account, or nil without them.
    ///
    /// - Throws: `KeychainError`.
    package func getArkavoCredentials() throws(KeychainError) -> ArkavoCredentials? {
        guard let stored = try storage.retrieve(id: Item.credentials.rawValue) else { return nil }
        return try stored.withBytes { bytes throws(KeychainError) in try ArkavoCredentials(encoded: bytes) }
    }

    /// Removes the names of the account, if there are any.
    ///
    /// - Throws: `KeychainError`.
    package func deleteArkavoCredentials() throws(KeychainError) {
        try storage.delete(id: Item.credentials.rawValue)
    }

    private func store(
        _ bytes: SecretBytes,
        as item: Item,
        _ when: AccessibleWhen = .whenUnlocked
    ) throws(KeychainError) {
        try storage.store(
            bytes,
            id: item.rawValue,
            accessControl: AccessControl(accessibleWhen: when, accessGroup: group)
        )
    }
}
