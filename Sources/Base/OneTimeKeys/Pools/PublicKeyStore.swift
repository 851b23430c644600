internal import Bytes
internal import Crypto

/// A peer's pool of public one-time keys, of which each is taken once.
public struct PublicKeyStore: Hashable, Sendable {
    /// The algorithm of the keys.
    public let suite: OneTimeKeySuite
    /// Which pool of its owner it is; pools count from 1.
    public let generation: UInt32
    /// The index of the first key of ``keys`` among those that the owner made.
    let first: Int
    /// The public keys, one after another.
    let keys: [UInt8]
    /// The number of keys that were taken.
    public private(set) var usedCount = 0

    init(_ suite: OneTimeKeySuite, generation: UInt32, first: Int, keys: [UInt8]) {
        self.suite = suite
        self.generation = generation
        self.first = first
        self.keys = keys
    }

    /// The number of keys that were generated.
    public var capacity: Int { keys.count / suite.publicKeyByteCount }

    /// The number of keys that are left.
    public var availableCount: Int { capacity - usedCount }

    /// Whether so few keys are left that new ones should be asked for: a tenth of the capacity, rounded down.
    public var isLow: Bool { availableCount <= capacity / 10 }

    /// Takes the next key, which is never given again by this value.
    ///
    /// Store ``usedCount`` before anything that was sealed to the key leaves the device.
    ///
    /// - Throws: ``OneTimeKeyError/noKeysAvailable``.
    public mutating func takeKey() throws(OneTimeKeyError) -> OneTimePublicKey {
        guard availableCount > 0 else { throw .noKeysAvailable }
        let start = usedCount * suite.publicKeyByteCount
        usedCount += 1
        return OneTimePublicKey(suite, Array(keys[start..<start + suite.publicKeyByteCount]))
    }

    /// Marks the first `count` keys as taken, because they may have been used before a restart.
    public mutating func skip(to count: Int) { usedCount = min(max(usedCount, count), capacity) }
}

// The encoding: `RPK`, version, suite, generation, index of the first key, number of keys, keys, and the SHA-256 of all
// that. The state of taken keys is stored separately.
extension PublicKeyStore {
    private static let subject = "a pool of public keys"
    private static let magic: [UInt8] = [UInt8]("RPK".utf8) + [1]
    private static let overheadByteCount = 4 + 1 + 4 + 2 + 2 + checksumByteCount
    static let checksumByteCount = 32

    /// The most bytes that an encoding has.
    public static let byteLimit =
        overheadByteCount
        + (OneTimeKeySuite.allCases.map { $0.publicKeyByteCount * $0.capacityLimit }.max() ?? 0)

    /// The encoding: 45 bytes more than the keys have.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: Self.overheadByteCount + keys.count)
        writer.write(Self.magic)
        writer.write(suite.rawValue)
        writer.write(generation)
        writer.write(UInt16(first))
        writer.write(UInt16(capacity))
        writer.write(keys)
        return Checksum.appended(to: writer.bytes)
    }

    /// Reads an encoding.
    ///
    /// Whether each key is one is seen when it is used.
    ///
    /// - Throws: ``OneTimeKeyError/malformed(of:reason:)``.
    public init(_ bytes: [UInt8]) throws(OneTimeKeyError) {
        do {
            try self.init(reading: bytes)
        } catch {
            throw .malformed(of: Self.subject, reason: error.description)
        }
    }

    private init(reading bytes: [UInt8]) throws(BytesError) {
        guard bytes.count <= Self.byteLimit else { throw .tooLong(limit: Self.byteLimit, found: bytes.count) }
        var reader = ByteReader(try Checksum.verified(bytes))
        guard try reader.readBytes(count: Self.magic.count) == Self.magic else {
            throw .invalidValue("it does not begin with RPK and version 1")
        }
        let suite = try reader.readSuite()
        let generation = try reader.readUInt32()
        let first = Int(try reader.readUInt16())
        let count = Int(try reader.readUInt16())
        guard 1...suite.capacityLimit ~= count, first + count <= suite.capacityLimit else {
            throw .invalidValue("\(count) keys from index \(first); at most \(suite.capacityLimit) in a pool")
        }
        self.init(
            suite,
            generation: generation,
            first: first,
            keys: try reader.readBytes(count: count * suite.publicKeyByteCount)
        )
        try reader.finish()
    }

    /// The SHA-256 of the encoding.
    public var digest: [UInt8] { [UInt8](SHA256.hash(data: encoded)) }
}
