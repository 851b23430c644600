package import Bytes
package import CircleModel
internal import CircleStore
internal import Crypto
internal import Essentials
internal import Identity

/// Encrypts thoughts at rest: nonce(12), AES-256-GCM ciphertext and tag, bound to the thought's public id.
package struct HistoryCipher: Sendable {
    private let key: SymmetricKey

    package init(key: SecretBytes) {
        self.key = unsafe key.withUnsafeBytes { bytes in unsafe SymmetricKey(data: bytes) }
    }

    package func seal(_ thought: ThoughtServiceModel) throws -> [UInt8] {
        let box = try AES.GCM.seal(thought.bytes, using: key, authenticating: thought.publicID.bytes)
        return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    func open(_ thought: StoredThought) throws -> ThoughtServiceModel {
        let box = try AES.GCM.SealedBox(combined: thought.nano)
        let bytes = Array(try AES.GCM.open(box, using: key, authenticating: thought.publicID.bytes))
        return try ThoughtServiceModel(bytes, storedAs: thought.publicID)
    }
}
