internal import Bytes
internal import Crypto

/// The name of a one-time key: the first 16 bytes of the SHA-256 of the public key.
///
/// In a message it is written as 32 hexadecimal digits, since a reader of NanoTDF may take names for text.
public struct OneTimeKeyName: Hashable, Sendable {
    static let byteCount = 16

    private let high: UInt64
    private let low: UInt64

    init(ofPublicKey publicKey: some Sequence<UInt8>) {
        var hash = SHA256()
        hash.update(data: Array(publicKey))
        self.init(Array(hash.finalize().prefix(Self.byteCount))[...])
    }

    /// Reads the digits of a message; nil if they are something else.
    init?(digits: [UInt8]) {
        guard digits.count == 2 * Self.byteCount, let text = String(utf8: digits),
            let bytes = try? Hex.decode(text), Hex.encode(bytes) == text  // some other name: no key has it
        else { return nil }
        self.init(bytes[...])
    }

    /// Takes 16 bytes.
    init(_ bytes: ArraySlice<UInt8>) {
        precondition(bytes.count == Self.byteCount, "a name of \(bytes.count) bytes")
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.write(high)
        writer.write(low)
        return writer.bytes
    }

    var digits: [UInt8] { [UInt8](Hex.encode(bytes).utf8) }
}

extension OneTimeKeyName: CustomStringConvertible {
    /// The 32 hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}
