internal import Bytes
public import Identity
internal import NanoTDF

/// A message that one private key opens, once.
///
/// For a key on P-256 it is a NanoTDF, whose resource locator names the recipient and the key. For an X-Wing key it is
/// `RXW`, version 1, the recipient's PeerId (32 bytes), the key's name (16), the encapsulated key (1,120), and the
/// ciphertext with its tag; all before the ciphertext is the info of HPKE. `docs/spec/one-time-keys.md` has both layouts.
public struct SealedMessage: Sendable {
    enum Form: Sendable {
        case nanoTDF(NanoTDF)
        case xWing(encapsulatedKey: [UInt8], ciphertext: [UInt8])
    }

    /// The policy of each NanoTDF that is a message, byte for byte: only the name of the file's format.
    static let policy = [UInt8]("runar/one-time-message/v1".utf8)
    static let magic: [UInt8] = [UInt8]("RXW".utf8) + [1]
    /// The most bytes of plaintext that a message has: 1,044,480, so that the message has less than 1 MiB.
    public static let plaintextByteLimit = 1 << 20 - 4_096
    static let byteLimit = 1 << 20

    /// The recipient of the message.
    public let recipient: PeerId
    /// The name of the key that opens it.
    public let keyName: OneTimeKeyName
    let form: Form

    init(to recipient: PeerId, keyName: OneTimeKeyName, _ form: Form) {
        self.recipient = recipient
        self.keyName = keyName
        self.form = form
    }

    /// Reads a message.
    ///
    /// - Throws: ``OneTimeKeyError/malformed(of:reason:)`` and ``OneTimeKeyError/tooLarge(limit:found:)``.
    public init(_ bytes: [UInt8]) throws(OneTimeKeyError) {
        guard bytes.count <= Self.byteLimit else { throw .tooLarge(limit: Self.byteLimit, found: bytes.count) }
        do {
            if bytes.starts(with: Self.magic) {
                try self.init(xWing: bytes.dropFirst(Self.magic.count))
            } else {
                try self.init(NanoTDF(bytes))
            }
        } catch let error as OneTimeKeyError {
            throw error
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
    }

    /// The encoding.
    public var bytes: [UInt8] {
        switch form {
        case .nanoTDF(let file): file.bytes
        case .xWing(let encapsulatedKey, let ciphertext):
            Self.xWingHeader(recipient, keyName) + encapsulatedKey + ciphertext
        }
    }

    static let subject = "a sealed message"

    /// The bytes before the encapsulated key, which are also HPKE's info.
    static func xWingHeader(_ recipient: PeerId, _ keyName: OneTimeKeyName) -> [UInt8] {
        magic + recipient.bytes + keyName.bytes
    }

    private init(xWing bytes: ArraySlice<UInt8>) throws {
        var reader = ByteReader(bytes)
        recipient = try PeerId(rawRepresentation: reader.readBytes(count: PeerId.byteCount))
        keyName = OneTimeKeyName(try reader.readSlice(count: OneTimeKeyName.byteCount))
        let encapsulatedKey = try reader.readBytes(count: XWing.encapsulatedByteCount)
        guard reader.remaining >= XWing.tagByteCount else {
            throw BytesError.truncated(needed: XWing.tagByteCount, available: reader.remaining)
        }
        form = .xWing(encapsulatedKey: encapsulatedKey, ciphertext: reader.readRemaining())
    }

    /// Accepts only the fields that a message has: an unchecked field could be changed by any third party.
    private init(_ file: NanoTDF) throws(OneTimeKeyError) {
        let (header, locator) = (file.header, file.header.keyAccess)
        guard locator.scheme == .sharedResourceDirectory, let name = OneTimeKeyName(digits: locator.identifier),
            let recipient = Self.recipient(in: locator.body)
        else { throw .malformed(of: Self.subject, reason: "its resource locator names no peer and one-time key") }
        guard header.policy == .plain(Self.policy), header.cipher == .aes256GCM128, header.bindingMode == .hash,
            !header.isSigned, header.ephemeralPublicKey.curve == .secp256r1
        else { throw .malformed(of: Self.subject, reason: "its policy, curve, cipher or binding differs") }
        self.init(to: recipient, keyName: name, .nanoTDF(file))
    }

    private static func recipient(in body: String) -> PeerId? {
        guard let bytes = try? Base58.decode(body) else { return nil }  // a locator of something else
        return try? PeerId(rawRepresentation: bytes)  // likewise
    }
}
