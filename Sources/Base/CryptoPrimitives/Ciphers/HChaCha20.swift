/// HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2): a key for ChaCha20 from a key and the first part of a nonce.
package enum HChaCha20 {
    /// The size of a key, and of the result, in bytes.
    package static let keyByteCount = 32
    /// The size of the nonce in bytes.
    package static let nonceByteCount = 16

    /// The words of "expand 32-byte k".
    private static let constants: [UInt32] = [0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574]

    /// Returns the derived key of 32 bytes; other lengths of `key` and `nonce` are errors of the program.
    package static func derive(key: [UInt8], nonce: some Collection<UInt8>) -> [UInt8] {
        precondition(key.count == keyByteCount, "a key of \(key.count) bytes")
        precondition(nonce.count == nonceByteCount, "a nonce of \(nonce.count) bytes")
        var words = constants + littleEndianWords(key) + littleEndianWords(Array(nonce))
        for _ in 0..<10 {
            for column in 0..<4 { quarterRound(&words, column, column + 4, column + 8, column + 12) }
            for column in 0..<4 {
                quarterRound(&words, column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
            }
        }
        return (words[..<4] + words[12...]).flatMap { word in
            [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }

    private static func littleEndianWords(_ bytes: [UInt8]) -> [UInt32] {
        stride(from: 0, to: bytes.count, by: 4).map { start in
            bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// The quarter round of ChaCha (RFC 8439, section 2.1).
    private static func quarterRound(_ words: inout [UInt32], _ a: Int, _ b: Int, _ c: Int, _ d: Int) {
        words[a] &+= words[b]
        words[d] = rotateLeft(words[d] ^ words[a], 16)
        words[c] &+= words[d]
        words[b] = rotateLeft(words[b] ^ words[c], 12)
        words[a] &+= words[b]
        words[d] = rotateLeft(words[d] ^ words[a], 8)
        words[c] &+= words[d]
        words[b] = rotateLeft(words[b] ^ words[c], 7)
    }

    private static func rotateLeft(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word &<< count | word &>> (32 - count)
    }
}
