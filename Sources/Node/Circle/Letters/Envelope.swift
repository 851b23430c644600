internal import Bytes
internal import CircleModel
package import Identity

/// The body of a mail of a circle: a sealed letter and the content that belongs to it, padded and sealed once more to the
/// recipient's device (`docs/spec/circle.md`, section 5).
///
/// A sealed letter names its recipient and its one-time key in clear. The envelope keeps both from the members that hold
/// the mail, and the padding most of the length.
package struct Envelope: Hashable, Sendable {
    /// The least bytes of the padded plaintext, so that a receipt is as long as a short thought.
    private static let minimumByteCount = 1_024
    private static let label = DomainLabel("runar/letter-envelope/v1")
    private static let subject = "an envelope"

    /// The letter, sealed with a one-time key.
    let letter: [UInt8]
    /// The recipient's copy of the content; empty for a letter without content.
    let copy: [UInt8]

    package init(letter: [UInt8], copy: [UInt8]) {
        self.letter = letter
        self.copy = copy
    }

    /// Opens an envelope to `recipient`.
    ///
    /// - Throws: ``CircleError/malformed(of:reason:)``.
    init(_ sealed: [UInt8], with key: SealingKeyPair, of recipient: PeerId) throws(CircleError) {
        guard let padded = key.open(sealed, info: Self.info(recipient)) else {
            throw .malformed(of: Self.subject, reason: "it does not open with the key of this device")
        }
        try self.init(padded: padded)
    }

    /// Reads the plaintext.
    ///
    /// - Throws: ``CircleError/malformed(of:reason:)``.
    init(padded: [UInt8]) throws(CircleError) {
        var reader = ByteReader(padded)
        do {
            letter = try reader.readBlock()
            copy = try reader.readBlock()
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
        let expected = Self.paddedByteCount(padded.count - reader.remaining)
        guard padded.count == expected, reader.readRemaining().allSatisfy({ $0 == 0 }) else {
            throw .malformed(of: Self.subject, reason: "its padding is not that of its length")
        }
    }

    /// The plaintext: letter and copy, each after its length, and zeros.
    var padded: [UInt8] {
        var writer = ByteWriter(capacity: 8 + letter.count + copy.count)
        for block in [letter, copy] {
            writer.write(UInt32(block.count))
            writer.write(block)
        }
        let padding = Self.paddedByteCount(writer.bytes.count) - writer.bytes.count
        return writer.bytes + [UInt8](repeating: 0, count: padding)
    }

    /// Seals the envelope to the device `recipient`; nil if the system's cryptography refuses the key.
    package func seal(to key: SealingKey, of recipient: PeerId) -> [UInt8]? {
        key.seal(padded, info: Self.info(recipient))
    }

    /// The Padmé length (Nikitin and others, "Reducing Metadata Leakage from Encrypted Files and Communication with
    /// PURBs", 2019): at most 12 % more, and few different lengths.
    static func paddedByteCount(_ count: Int) -> Int {
        guard count > minimumByteCount else { return minimumByteCount }
        let exponent = Int.bitWidth - 1 - count.leadingZeroBitCount
        let kept = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - kept)) - 1
        return (count + mask) & ~mask
    }

    private static func info(_ recipient: PeerId) -> [UInt8] { label.message(recipient.bytes) }
}

extension ByteReader {
    /// Reads a length of 4 bytes and as many bytes.
    fileprivate mutating func readBlock() throws(BytesError) -> [UInt8] {
        let count = try readUInt32()
        guard count <= remaining else { throw .tooLong(limit: remaining, found: Int(count)) }
        return try readBytes(count: Int(count))
    }
}
