#if canImport(Security)
internal import Bytes
internal import Crypto
internal import Foundation

extension KeyStorage {
    /// This storage with its keys wrapped by a key of the Secure Enclave, if that `isRequired` and there is one.
    ///
    /// The enclave's key never leaves it. What is stored of it, under the id `secure-enclave`, is a handle that only this
    /// device's enclave understands, so it needs no finger or face of its own.
    ///
    /// - Throws: ``KeychainError``; ``KeychainError/unableToRead(_:)`` when keys were wrapped and there is no enclave.
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
