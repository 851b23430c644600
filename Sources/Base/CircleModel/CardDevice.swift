internal import Bytes
package import Identity

/// A device on a profile card: its own statement that it belongs to the person, with the key to which mail for it is
/// sealed.
///
/// The device signs for the key of the person, so that no card names a device of another person.
package struct CardDevice: Hashable, Sendable {
    /// The bytes of an entry: key, mail key, time, signature.
    package static let byteCount = 2 * 32 + 8 + Ed25519Signature.byteCount
    private static let label = DomainLabel("runar/card-device/v1")
    private static let subject = "a device on a profile card"

    /// The key of the device, from which its PeerId follows.
    package let key: Ed25519PublicKey
    /// The key to which mail for the device is sealed.
    package let mailKey: SealingKey
    /// The time of the statement in seconds since 1970: an entry from before the removal of the device is stale.
    package let signedSeconds: UInt64
    private let signature: [UInt8]

    /// Signs the statement of a device that it belongs to the person with a key.
    package init(
        of person: Ed25519PublicKey,
        mailKey: SealingKey,
        signedSeconds: UInt64,
        signedBy device: Ed25519PrivateKey
    ) throws {
        key = device.publicKey
        self.mailKey = mailKey
        self.signedSeconds = signedSeconds
        signature = try Ed25519Signature(of: Self.message(person, mailKey, signedSeconds), by: device).bytes
    }

    /// Reads an entry of the card of a person, and verifies the signature of the device.
    ///
    /// - Throws: ``CircleError``.
    package init(_ bytes: [UInt8], of person: Ed25519PublicKey) throws(CircleError) {
        guard bytes.count == Self.byteCount else {
            throw .malformed(of: Self.subject, reason: "it has \(bytes.count) bytes and not \(Self.byteCount)")
        }
        do {
            key = try Ed25519PublicKey(rawRepresentation: bytes[..<32])
            mailKey = try SealingKey(rawRepresentation: bytes[32..<64], of: "the mail key of a device")
            var reader = ByteReader(bytes[64..<72])
            signedSeconds = try reader.readUInt64()
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
        signature = Array(bytes[72...])
        guard key.isValidSignature(signature, for: Self.message(person, mailKey, signedSeconds)) else {
            throw .invalidSignature
        }
    }

    /// The device.
    package var peerId: PeerId { PeerId(publicKey: key) }

    /// The encoding.
    package var bytes: [UInt8] { key.bytes + mailKey.bytes + Self.time(signedSeconds) + signature }

    private static func message(_ person: Ed25519PublicKey, _ mailKey: SealingKey, _ seconds: UInt64) -> [UInt8] {
        label.message(person.bytes, mailKey.bytes, time(seconds))
    }

    private static func time(_ seconds: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.write(seconds)
        return writer.bytes
    }
}
