internal import Algorithms
public import Bytes
internal import Crypto

/// A pool of one-time keys, of which a peer has the public halves.
///
/// The private halves are never stored: they are derived from a tree of secrets, from which the secret of a key is erased
/// after it has opened its message. Names are public and do not change; ``encodedNames`` and ``encodedSecrets`` are
/// separate, so that the use of a key rewrites some hundred bytes instead of all.
public struct KeyStore: Sendable {
    /// The algorithm of the keys.
    public let suite: OneTimeKeySuite
    /// Which pool of this device for its peer it is; pools count from 1.
    public let generation: UInt32
    private let names: [OneTimeKeyName]
    private var tree: PuncturableTree

    /// Generates `capacity` keys, which takes less than a second for the default.
    ///
    /// - Throws: ``OneTimeKeyError/invalidCapacity(_:limit:)`` unless `capacity` is a power of two within the suite's
    ///   limit, and ``OneTimeKeyError/unsupportedSuite(_:)``.
    public static func generate(
        _ suite: OneTimeKeySuite,
        generation: UInt32 = 1,
        capacity: Int? = nil
    ) throws(OneTimeKeyError) -> (keys: KeyStore, publicKeys: PublicKeyStore) {
        let seed = unsafe SecretBytes(count: PuncturableTree.secretByteCount) { memory in
            var random = SystemRandomNumberGenerator()
            for place in memory.indices { unsafe memory[place] = UInt8.random(in: .min ... .max, using: &random) }
        }
        return try generate(suite, generation: generation, capacity: capacity, seed: seed)
    }

    /// Generates the pool that is derived from `seed`.
    package static func generate(
        _ suite: OneTimeKeySuite,
        generation: UInt32,
        capacity: Int?,
        seed: SecretBytes
    ) throws(OneTimeKeyError) -> (keys: KeyStore, publicKeys: PublicKeyStore) {
        let capacity = capacity ?? suite.defaultCapacity
        guard 2...suite.capacityLimit ~= capacity, capacity.nonzeroBitCount == 1 else {
            throw .invalidCapacity(capacity, limit: suite.capacityLimit)
        }
        let tree = PuncturableTree(depth: capacity.trailingZeroBitCount, seed: seed)
        var names: [OneTimeKeyName] = []
        var publicKeys: [UInt8] = []
        names.reserveCapacity(capacity)
        publicKeys.reserveCapacity(capacity * suite.publicKeyByteCount)
        try tree.forEachLeaf { (_, secret) throws(OneTimeKeyError) in
            let key = try OneTimePrivateKey(suite, leaf: secret).publicKey()
            names.append(OneTimeKeyName(ofPublicKey: key))
            publicKeys += key
        }
        return (
            KeyStore(suite: suite, generation: generation, names: names, tree: tree),
            PublicKeyStore(suite, generation: generation, first: 0, keys: publicKeys)
        )
    }

    private init(suite: OneTimeKeySuite, generation: UInt32, names: [OneTimeKeyName], tree: PuncturableTree) {
        self.suite = suite
        self.generation = generation
        self.names = names
        self.tree = tree
    }

    /// The number of keys that were generated.
    public var capacity: Int { names.count }

    /// The number of keys that have not opened a message.
    public var availableCount: Int { tree.leafCount }

    /// Whether a key of that name belongs to this pool, used or not.
    public func contains(_ name: OneTimeKeyName) -> Bool { index(of: name) != nil }

    /// The index of a key in this pool; nil if it is from another one.
    func index(of name: OneTimeKeyName) -> Int? { names.firstIndex(of: name) }

    /// - Throws: ``OneTimeKeyError/keyNotFound`` and ``OneTimeKeyError/keyUsed``.
    func privateKey(named name: OneTimeKeyName) throws(OneTimeKeyError) -> (index: Int, key: OneTimePrivateKey) {
        guard let index = index(of: name) else { throw .keyNotFound }
        guard let leaf = tree.secret(ofLeaf: index) else { throw .keyUsed }
        return (index, try OneTimePrivateKey(suite, leaf: leaf))
    }

    /// Erases a key whose message was opened; returns false if it was erased before or is from another pool.
    package mutating func eraseKey(named name: OneTimeKeyName) -> Bool {
        guard let index = index(of: name), tree.secret(ofLeaf: index) != nil else { return false }
        erase(index)
        return true
    }

    mutating func erase(_ index: Int) { tree.erase(leaf: index) }
}

extension KeyStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows no secret.
    public var description: String {
        "KeyStore(\(suite), generation \(generation), \(availableCount) of \(capacity), redacted)"
    }

    /// Shows no secret.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// The encodings. Names: `RKN`, version, suite, generation, number of names, names of 16 bytes, SHA-256 of all that.
// Secrets: `RKS`, version, SHA-256 of the names' encoding, the tree, SHA-256 of all that.
extension KeyStore {
    private static let subject = "a pool of private keys"
    private static let namesMagic: [UInt8] = [UInt8]("RKN".utf8) + [1]
    private static let secretsMagic: [UInt8] = [UInt8]("RKS".utf8) + [1]

    /// The public part: 43 bytes and 16 for each key.
    public var encodedNames: [UInt8] {
        var writer = ByteWriter(capacity: 64 + names.count * OneTimeKeyName.byteCount)
        writer.write(Self.namesMagic)
        writer.write(suite.rawValue)
        writer.write(generation)
        writer.write(UInt16(names.count))
        for name in names { writer.write(name.bytes) }
        return Checksum.appended(to: writer.bytes)
    }

    /// The secret part, to be sealed at rest: less than 600 bytes as long as keys are used in their order, and 143,431 at
    /// most.
    public var encodedSecrets: SecretBytes {
        var writer = ByteWriter(capacity: 1_024)
        writer.write(Self.secretsMagic)
        writer.write(SHA256.hash(data: encodedNames))
        tree.write(to: &writer)
        var bytes = Checksum.appended(to: writer.bytes)
        return SecretBytes(consuming: &bytes)
    }

    /// Joins both parts.
    ///
    /// - Throws: ``OneTimeKeyError/malformed(of:reason:)``, also for parts of two pools.
    public init(names: [UInt8], secrets: SecretBytes) throws(OneTimeKeyError) {
        do throws(BytesError) {
            let (suite, generation, list) = try Self.names(reading: names)
            let tree = try secrets.withBytes { (bytes) throws(BytesError) in
                var reader = ByteReader(try Checksum.verified(bytes))
                guard try reader.readBytes(count: Self.secretsMagic.count) == Self.secretsMagic else {
                    throw .invalidValue("it does not begin with RKS and version 1")
                }
                guard SHA256.hash(data: names) == (try reader.readBytes(count: SHA256.byteCount)) else {
                    throw .invalidValue("names and secrets are not of one pool")
                }
                let tree = try PuncturableTree(reading: &reader)
                try reader.finish()
                return tree
            }
            guard tree.capacity == list.count else { throw .invalidValue("another number of keys") }
            self.init(suite: suite, generation: generation, names: list, tree: tree)
        } catch {
            throw .malformed(of: Self.subject, reason: error.description)
        }
    }

    private static func names(
        reading bytes: [UInt8]
    ) throws(BytesError) -> (OneTimeKeySuite, UInt32, [OneTimeKeyName]) {
        var reader = ByteReader(try Checksum.verified(bytes))
        guard try reader.readBytes(count: namesMagic.count) == namesMagic else {
            throw .invalidValue("it does not begin with RKN and version 1")
        }
        let suite = try reader.readSuite()
        let generation = try reader.readUInt32()
        let count = Int(try reader.readUInt16())
        guard 2...suite.capacityLimit ~= count, count.nonzeroBitCount == 1 else {
            throw .invalidValue("\(count) keys")
        }
        let slice = try reader.readSlice(count: count * OneTimeKeyName.byteCount)
        try reader.finish()
        return (suite, generation, slice.chunks(ofCount: OneTimeKeyName.byteCount).map { OneTimeKeyName($0) })
    }
}
