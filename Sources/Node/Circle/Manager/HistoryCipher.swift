internal import Bytes
internal import Crypto
internal import Identity

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Encrypts thoughts at rest: nonce(12), AES-256-GCM ciphertext and tag, bound to the thought's public id.
struct HistoryCipher: Sendable {
    private let key: SymmetricKey

    init(key: SecretBytes) {
        self.key = unsafe key.withUnsafeBytes { bytes in unsafe SymmetricKey(data: bytes) }
    }

    func seal(_ thought: ThoughtServiceModel) throws -> [UInt8] {
        let box = try AES.GCM.seal(thought.bytes, using: key, authenticating: thought.publicID.bytes)
        return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    func open(_ sealed: [UInt8], of id: PublicID) throws -> ThoughtServiceModel {
        let box = try AES.GCM.SealedBox(combined: sealed)
        return try ThoughtServiceModel(Array(AES.GCM.open(box, using: key, authenticating: id.bytes)))
    }
}
