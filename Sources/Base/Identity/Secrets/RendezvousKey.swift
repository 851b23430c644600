internal import Bytes

/// The public half of a network's rendezvous key, to which content is sealed for the network's members.
///
/// It is an unsigned part of the texts of tokens and networks: with a wrong key no peer answers, and it has no other effect.
public struct RendezvousKey: Hashable, Sendable {
    /// The size of a key in bytes.
    package static let byteCount = SealingKey.byteCount
    /// The field of texts that holds a key.
    static let fieldName = "rendezvous"
    /// The number of bytes that sealing adds.
    package static let sealingByteCount = SealingKey.overheadByteCount
    private static let subject = "a rendezvous key"

    private let key: SealingKey

    fileprivate init(_ key: SealingKey) {
        self.key = key
    }

    /// Reads the 32 bytes of a key; points of small order are refused, because anyone could open content sealed to them.
    package init(rawRepresentation: some Collection<UInt8>) throws(IdentityError) {
        self.init(try SealingKey(rawRepresentation: rawRepresentation, of: Self.subject))
    }

    /// Reads a key in padded base64.
    public init(base64Encoded text: String) throws(IdentityError) {
        try self.init(rawRepresentation: IdentifierText.bytes32(base64: text, what: Self.subject).bytes)
    }

    /// The 32 bytes.
    package var bytes: [UInt8] { key.bytes }

    /// The key in padded base64.
    public var base64Encoded: String { IdentifierText.base64(key.words) }

    /// Seals `message` for the members; see ``SealingKey/seal(_:info:)``.
    package func seal(_ message: [UInt8], info: [UInt8]) -> [UInt8]? { key.seal(message, info: info) }
}

extension RendezvousKey: CustomStringConvertible {
    /// The key in padded base64.
    public var description: String { base64Encoded }
}

/// Both halves of a network's rendezvous key, which its members derive from their secret.
package struct RendezvousKeyPair: Sendable {
    private let pair: SealingKeyPair

    /// Takes the 32 bytes of an X25519 private key.
    init(_ secret: SecretBytes) {
        pair = SealingKeyPair(secret)
    }

    /// The half that stands in texts.
    package var publicKey: RendezvousKey { RendezvousKey(pair.publicKey) }

    /// Opens content sealed to the public half under the same `info`; nil if it was not.
    package func open(_ sealed: some Collection<UInt8>, info: [UInt8]) -> [UInt8]? { pair.open(sealed, info: info) }
}

extension RendezvousKeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows the public half only.
    package var description: String { "RendezvousKeyPair(publicKey: \(publicKey), privateKey: redacted)" }

    /// Shows the public half only.
    package var debugDescription: String { description }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
