internal import Algorithms
internal import Bytes
internal import Crypto

/// The root key as 24 words to write down: BIP-39's English words over the root's 32 bytes as entropy.
///
/// The words are the bytes and a checksum of eight bits. BIP-39's stretching into a seed of 64 bytes is not used: the phrase
/// restores exactly the root key that it encodes. A reader of the words owns the root key.
public struct RecoveryPhrase: Sendable {
    /// The number of words in a phrase.
    public static let wordCount = 24
    /// The longest text that is read; 24 words need at most 215 characters.
    private static let maximumTextByteCount = 4096
    private static let bitsPerWord = 11

    /// The root key that the words stand for.
    public let masterKey: Ed25519PrivateKey

    /// Puts a root key into words.
    public init(masterKey: Ed25519PrivateKey) {
        self.masterKey = masterKey
    }

    /// Puts a root key into words.
    public init(masterKey: Ed25519KeyPair) {
        self.init(masterKey: masterKey.privateKey)
    }

    /// Reads 24 words in any case, separated by any white space.
    public init(parsing text: String) throws(RecoveryPhraseError) {
        guard text.utf8.count <= Self.maximumTextByteCount else {
            throw .wrongWordCount(found: text.split(whereSeparator: \.isWhitespace).count)
        }
        try self.init(words: text.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    /// Reads 24 words in any case.
    public init(words: [String]) throws(RecoveryPhraseError) {
        guard words.count == Self.wordCount else { throw .wrongWordCount(found: words.count) }
        var packed = BitPacker()
        defer { packed.wipe() }
        for (offset, word) in words.enumerated() {
            let folded = word.lowercased()
            guard let index = Self.index(of: folded) else {
                throw .unknownWord(word, position: offset + 1, suggestion: Self.nearestWord(to: folded))
            }
            packed.append(index, bits: Self.bitsPerWord)
        }
        let entropy = SecretBytes(copying: packed.bytes.prefix(Ed25519PrivateKey.byteCount))
        guard packed.bytes.last == Self.checksum(of: entropy) else { throw .wrongChecksum }
        do {
            masterKey = try Ed25519PrivateKey(entropy)
        } catch {
            preconditionFailure("24 words of 11 bits gave \(entropy.count) bytes")
        }
    }

    /// The 24 words, for the moment in which they are shown; keep no copy.
    public var words: [String] {
        var packed = BitPacker()
        defer { packed.wipe() }
        masterKey.secret.withBytes { bytes in
            for byte in bytes { packed.append(Int(byte), bits: 8) }
        }
        packed.append(Int(Self.checksum(of: masterKey.secret)), bits: 8)
        return (0..<Self.wordCount).map { position in
            Self.wordList[packed.value(at: position * Self.bitsPerWord, bits: Self.bitsPerWord)]
        }
    }

    /// The 24 words with single spaces, for the moment in which they are shown; keep no copy.
    public var text: String { words.joined(separator: " ") }

    private static func checksum(of entropy: SecretBytes) -> UInt8 {
        unsafe entropy.withUnsafeBytes { bytes in
            var hash = SHA256()
            unsafe hash.update(bufferPointer: bytes)
            return hash.finalize().first { _ in true } ?? 0
        }
    }

    /// The place of a word in the sorted list.
    private static func index(of word: String) -> Int? {
        let index = wordList.partitioningIndex { $0 >= word }
        return index < wordList.count && wordList[index] == word ? index : nil
    }
}

extension RecoveryPhrase: Equatable {
    /// Whether both stand for the same key, compared in constant time.
    public static func == (left: RecoveryPhrase, right: RecoveryPhrase) -> Bool { left.masterKey == right.masterKey }
}

extension RecoveryPhrase: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `RecoveryPhrase(redacted)`.
    public var description: String { "RecoveryPhrase(redacted)" }

    /// Always `RecoveryPhrase(redacted)`.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
