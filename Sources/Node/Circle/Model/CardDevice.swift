internal import Bytes
package import Identity

/// A device on a profile card: its own statement that it belongs to the person, with the key to which mail for it is
/// sealed.
///
/// The device signs for the key of the person, so that no card names a device of another person.
package struct CardDevice: Hashable, Sendable {
    /// The bytes of an entry: key, mail key, signature.
    static let byteCount = 2 * 32 + Ed25519Signature.byteCount
    private static let label = DomainLabel("runar/card-device/v1")
    private static let subject = "a device on a profile card"

    /// The key of the device, from which its PeerId follows.
    let key: Ed25519PublicKey
    /// The key to which mail for the device is sealed.
    package let mailKey: SealingKey
    private let signature: [UInt8]

    /// Signs the statement of a device that it belongs to the person with a key.
    package init(of person: Ed25519PublicKey, mailKey: SealingKey, signedBy device: Ed25519PrivateKey) throws {
        key = device.publicKey
        self.mailKey = mailKey
        signature = try Ed25519Signature(of: Self.message(person, mailKey), by: device).bytes
    }

    /// Reads an entry of the card of a person, and verifies the signature of the device.
    ///
    /// - Throws: ``CircleError``.
    init(_ bytes: [UInt8], of person: Ed25519PublicKey) throws(CircleError) {
        guard bytes.count == Self.byteCount else {
            throw .malformed(of: Self.subject, reason: "it has \(bytes.count) bytes and not \(Self.byteCount)")
        }
        do {
            key = try Ed25519PublicKey(rawRepresentation: bytes[..<32])
            mailKey = try SealingKey(rawRepresentation: bytes[32..<64], of: "the mail key of a device")
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
        signature = Array(bytes[64...])
        guard key.isValidSignature(signature, for: Self.message(person, mailKey)) else { throw .invalidSignature }
    }

    /// The device.
    var peerId: PeerId { PeerId(publicKey: key) }

    /// The encoding.
    var bytes: [UInt8] { key.bytes + mailKey.bytes + signature }

    private static func message(_ person: Ed25519PublicKey, _ mailKey: SealingKey) -> [UInt8] {
        label.message(person.bytes, mailKey.bytes)
    }
}
