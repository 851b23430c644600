internal import Bytes
internal import Essentials
package import Identity
internal import Platform
package import RegistrationModel

/// The names of an account at an identity server.
package struct ArkavoCredentials: Hashable, Sendable, Codable {
    private static let byteLimit = 2_048

    /// The handle with its domain.
    package let handle: QualifiedHandle
    /// The DID that the account was registered with.
    package let did: DIDKey
    /// The id of the user.
    package let userId: UserId

    package init(handle: QualifiedHandle, did: DIDKey, userId: UserId) {
        self.handle = handle
        self.did = did
        self.userId = userId
    }

    /// Reads stored names.
    init(encoded bytes: [UInt8]) throws(KeychainError) {
        guard bytes.count <= Self.byteLimit, JSONNesting.isAtMost(1, in: bytes) else { throw Self.damaged }
        do { self = try JSONDecoder().decode(Self.self, from: Data(bytes)) } catch { throw Self.damaged }
    }

    private static var damaged: KeychainError {
        .unableToRead("the stored names of the account are damaged: sign in again")
    }

    /// Returns the bytes to store.
    func encoded() throws(KeychainError) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self))
        } catch {
            throw .unableToStore("\(error)")
        }
    }
}
