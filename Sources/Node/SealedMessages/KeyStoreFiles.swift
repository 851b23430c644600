internal import Bytes
internal import Crypto
internal import Essentials
internal import Identity
internal import OneTimeKeys
internal import Platform

/// The pools and the results of exchanges as files of one directory.
///
/// Each file is replaced as a whole and is durable when a call returns. The secrets of pools are encrypted with AES-256-GCM
/// under a key that is derived from the device's key, and bound to the name of their file.
struct KeyStoreFiles<System: FileSystem>: Sendable {
    /// The stored state of the relationship with one peer.
    struct Relationship: Sendable {
        /// This device's pools, the newest last.
        var pools: [KeyStore] = []
        /// The generation of the newest pool that was ever stored.
        var ownGeneration: UInt32 = 0
        var peerKeys: PublicKeyStore?
        var established: KeyExchange.Established?
        /// The binding of the exchange whose safety number was compared.
        var verifiedBinding: [UInt8]?
    }

    /// The kinds of files, by the end of their names.
    private enum Kind: String, CaseIterable {
        /// The result of the last exchange.
        case exchange
        /// The binding of the exchange whose safety number was compared.
        case verified
        case names
        case secrets
        case keys
        /// The number of the peer's keys that may have been used.
        case used
    }

    private struct Name {
        let peer: PeerId
        let kind: Kind
        let generation: UInt32
    }

    private static var fileByteLimit: Int { 2 << 20 }

    let directory: String
    let key: SecretBytes
    let fileSystem: System

    // MARK: Reading

    /// Reads everything, and removes files that an earlier process left half-written.
    ///
    /// - Throws: ``FileError``. A relationship with a damaged file is left out, and its error returned.
    func load() throws(FileError) -> (relationships: [PeerId: Relationship], damages: [PeerId: any Error]) {
        for path in [FilePath.directory(of: directory), directory]
        where try fileSystem.status(of: path, followingLink: true) == nil {
            try fileSystem.makeDirectory(path, mode: 0o700)
            try fileSystem.synchronizeDirectory(FilePath.directory(of: path))
        }
        var names: [Name] = []
        for entry in try fileSystem.names(in: directory).sorted() {
            if entry.hasPrefix(".") {
                try fileSystem.remove(FilePath.joining(directory, entry))
            } else if let name = Self.name(entry) {
                names.append(name)
            }
        }
        var relationships: [PeerId: Relationship] = [:]
        var damages: [PeerId: any Error] = [:]
        for (peer, names) in Dictionary(grouping: names, by: \.peer) {
            do { relationships[peer] = try relationship(of: names) } catch { damages[peer] = error }
        }
        return (relationships, damages)
    }

    private func relationship(of names: [Name]) throws -> Relationship {
        var found = Relationship()
        let generations = Set(names.filter { $0.kind == .names || $0.kind == .secrets }.map(\.generation)).sorted()
        found.ownGeneration = generations.last ?? 0
        guard let peer = names.first?.peer else { return found }
        for generation in generations {
            guard let list = try read(.names, peer, generation), let sealed = try read(.secrets, peer, generation)
            else { continue }
            let path = path(.secrets, peer, generation)
            found.pools.append(try KeyStore(names: list, secrets: open(sealed, at: path)))
        }
        if let newest = names.filter({ $0.kind == .keys }).map(\.generation).max(),
            let bytes = try read(.keys, peer, newest)
        {
            var keys = try PublicKeyStore(bytes)
            if let used = try read(.used, peer, newest) { keys.skip(to: try Self.count(used)) }
            found.peerKeys = keys
        }
        found.established = try read(.exchange, peer).map { bytes in try KeyExchange.Established(bytes) }
        found.verifiedBinding = try read(.verified, peer)
        return found
    }

    // MARK: Writing

    /// Stores a new pool.
    func add(_ pool: KeyStore, for peer: PeerId) throws {
        try save(pool, for: peer)
        try write(pool.encodedNames, .names, peer, pool.generation)
    }

    /// Removes all pools but those of these generations.
    func keepPools(_ generations: some Collection<UInt32>, for peer: PeerId) throws(FileError) {
        try remove(of: peer) { ($0.kind == .names || $0.kind == .secrets) && !generations.contains($0.generation) }
    }

    /// Stores the secrets that a pool has left.
    func save(_ pool: KeyStore, for peer: PeerId) throws {
        let path = path(.secrets, peer, pool.generation)
        let box = try pool.encodedSecrets.withBytes { bytes in
            try AES.GCM.seal(bytes, using: symmetricKey, authenticating: Self.associatedData(path))
        }
        try AtomicFile.write([UInt8](box.nonce) + box.ciphertext + box.tag, to: path, fileSystem: fileSystem)
    }

    /// Stores a peer's pool, of which no key was used, in place of the one before.
    ///
    /// The count of used keys goes last: after a crash before that, keys of the new pool are skipped, and none is used twice.
    func save(_ keys: PublicKeyStore, of peer: PeerId) throws(FileError) {
        try write(keys.encoded, .keys, peer, keys.generation)
        try remove(of: peer) { $0.kind == .keys && $0.generation != keys.generation }
        try remove(of: peer) { $0.kind == .used }
    }

    /// Stores that the first `count` keys of a peer's pool may have been used.
    func saveUse(of count: Int, generation: UInt32, peer: PeerId) throws(FileError) {
        var writer = ByteWriter(capacity: 4)
        writer.write(UInt32(count))
        try write(writer.bytes, .used, peer, generation)
    }

    /// Stores the result of an exchange.
    func save(_ established: KeyExchange.Established, of peer: PeerId) throws(FileError) {
        try write(established.encoded, .exchange, peer)
    }

    /// Stores that the safety number of the exchange with this binding was compared.
    func saveVerification(of binding: [UInt8], with peer: PeerId) throws(FileError) {
        try write(binding, .verified, peer)
    }

    /// Removes everything of a peer.
    func removeAll(of peer: PeerId) throws(FileError) { try remove(of: peer) { _ in true } }

    // MARK: Files

    private func path(_ kind: Kind, _ peer: PeerId, _ generation: UInt32 = 0) -> String {
        FilePath.joining(directory, "\(peer.text).\(generation).\(kind.rawValue)")
    }

    private static func name(_ text: String) -> Name? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let peer = PeerId(String(parts[0])), peer.text == parts[0],
            let generation = UInt32(parts[1]), let kind = Kind(rawValue: String(parts[2]))
        else { return nil }
        return Name(peer: peer, kind: kind, generation: generation)
    }

    private func read(_ kind: Kind, _ peer: PeerId, _ generation: UInt32 = 0) throws(FileError) -> [UInt8]? {
        try AtomicFile.read(path(kind, peer, generation), limit: Self.fileByteLimit, fileSystem: fileSystem)
    }

    private func write(_ bytes: [UInt8], _ kind: Kind, _ peer: PeerId, _ generation: UInt32 = 0) throws(FileError) {
        try AtomicFile.write(bytes, to: path(kind, peer, generation), fileSystem: fileSystem)
    }

    private func remove(of peer: PeerId, where isObsolete: (Name) -> Bool) throws(FileError) {
        var hasRemoved = false
        for entry in try fileSystem.names(in: directory).sorted() {
            guard let name = Self.name(entry), name.peer == peer, isObsolete(name) else { continue }
            try fileSystem.remove(FilePath.joining(directory, entry))
            hasRemoved = true
        }
        if hasRemoved { try fileSystem.synchronizeDirectory(directory) }
    }

    // MARK: Encryption

    private var symmetricKey: SymmetricKey {
        unsafe key.withUnsafeBytes { bytes in unsafe SymmetricKey(data: bytes) }
    }

    private static func associatedData(_ path: String) -> [UInt8] { [UInt8](FilePath.name(of: path).utf8) }

    private func open(_ sealed: [UInt8], at path: String) throws(OneTimeKeyError) -> SecretBytes {
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            let data = try AES.GCM.open(box, using: symmetricKey, authenticating: Self.associatedData(path))
            return SecretBytes(copying: data)
        } catch {
            throw OneTimeKeyError.malformed(
                of: path,
                reason: "it was changed, or belongs to another device; remove it, and exchange keys again"
            )
        }
    }

    private static func count(_ bytes: [UInt8]) throws(OneTimeKeyError) -> Int {
        do throws(BytesError) {
            var reader = ByteReader(bytes)
            let count = Int(try reader.readUInt32())
            try reader.finish()
            return count
        } catch {
            throw OneTimeKeyError.malformed(of: "the count of used keys", reason: error.description)
        }
    }
}
