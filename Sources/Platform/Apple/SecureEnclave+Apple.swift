#if canImport(Security)
internal import Bytes
internal import Crypto
internal import Foundation

extension KeyStorage {
    /// This storage with its keys wrapped by a key of the Secure Enclave, if that `isRequired` and there is one.
    ///
    /// The enclave's key never leaves it. The handle that is stored under the id `secure-enclave` is only usable in this
    /// device's enclave, so it needs no biometrics.
    ///
    /// - Throws: ``KeychainError``; ``KeychainError/unableToRead(_:)`` if keys were wrapped and this device has no enclave.
    package func wrappedBySecureEnclave(isRequired: Bool) throws(KeychainError) -> any KeyStorage {
        let id = "secure-enclave"
        let handle = try retrieve(id: id)
        let plan = KeyProtectionPlan(
            isRequired: isRequired,
            hasEnclave: SecureEnclave.isAvailable,
            hasWrappingKey: handle != nil
        )
        switch plan {
        case .plain: return self
        case .refused:
            throw .unableToRead("the keys were wrapped by a Secure Enclave, which this device does not have")
        case .wrapped:
            do {
                let bytes = handle?.withBytes { Data($0) } ?? Data()
                return WrappedKeyStorage(
                    self,
                    key: try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: bytes)
                )
            } catch {
                throw .unableToRead(
                    "the Secure Enclave of this device does not know the key that wraps the others: \(error)"
                )
            }
        case .makeWrappingKey:
            let key: SecureEnclave.P256.KeyAgreement.PrivateKey
            do {
                key = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            } catch {
                throw .unableToStore("the Secure Enclave made no key: \(error)")
            }
            // Not guarded, and readable whenever any key is.
            let accessControl = AccessControl(accessibleWhen: .afterFirstUnlockThisDeviceOnly)
            try store(SecretBytes(copying: key.dataRepresentation), id: id, accessControl: accessControl)
            return WrappedKeyStorage(self, key: key)
        }
    }
}
#endif
