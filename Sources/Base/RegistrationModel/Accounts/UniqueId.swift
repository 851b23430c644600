internal import Bytes

/// Sixteen bytes that name a token, a session or a model of authenticators, in text a UUID (RFC 9562).
///
/// New ones are random, of version 4. Bytes of others are accepted as they are.
package struct UniqueId: Hashable, Sendable {
    /// The size of an id in bytes.
    package static let byteCount = 16
    /// The places of hyphens in the text.
    private static let hyphens: Set = [8, 13, 18, 23]
    private static let characterCount = 36

    private let high: UInt64
    private let low: UInt64

    /// Makes a new id from `random`, which must be fit for secrets outside tests.
    package init(using random: inout some RandomNumberGenerator) {
        // Bits 48 to 51 are the version, bits 64 and 65 the variant.
        high = random.next() & ~0xF000 | 0x4000
        low = random.next() & ~(0b11 << 62) | 0b10 << 62
    }

    /// Takes the two halves, most significant first.
    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads 16 bytes, or returns nil when there are not exactly 16.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads a UUID in lower case with hyphens.
    package init(text: String) throws(AccountIdError) {
        guard text.utf8.count == Self.characterCount else { throw .wrongLength(found: text.utf8.count) }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for (index, byte) in text.utf8.enumerated() {
            guard !Self.hyphens.contains(index) else {
                guard byte == UInt8(ascii: "-") else { throw .invalidCharacter(position: index) }
                continue
            }
            guard let digit = Self.digit(byte) else { throw .invalidCharacter(position: index) }
            high = high << 4 | low >> 60
            low = low << 4 | digit
        }
        self.high = high
        self.low = low
    }

    private static func digit(_ character: UInt8) -> UInt64? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(character - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(character - UInt8(ascii: "a") + 10)
        default: nil
        }
    }

    /// The 16 bytes.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.write(high)
        writer.write(low)
        return writer.bytes
    }

    /// Whether the bits of version and variant are those of random UUIDs.
    package var isVersion4: Bool { high & 0xF000 == 0x4000 && low >> 62 == 0b10 }

    /// The UUID in lower case with hyphens.
    package var text: String {
        var text = ""
        for (index, character) in Hex.encode(bytes).enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(character)
        }
        return text
    }
}

extension UniqueId: CustomStringConvertible {
    /// The UUID in lower case with hyphens.
    package var description: String { text }
}

extension UniqueId: Codable {
    /// Reads a UUID in lower case with hyphens.
    package init(from decoder: any Decoder) throws {
        try self.init(text: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes a UUID in lower case with hyphens.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
