/// The keys of an issuer that were seen equal over two paths.
///
/// An issuer with a key per user could recognise each user's tokens. A client therefore compares the directory that it
/// fetches from the issuer with the copy of another party, over another connection (RFC 9576, section 6.2).
public struct KeyConsistency: Hashable, Sendable {
    /// A directory as it was seen over one path.
    public struct View: Hashable, Sendable {
        /// The name of the path for people, such as the host that served the directory.
        public let path: String
        /// The bytes of the directory.
        public let directory: [UInt8]

        /// Creates a view.
        public init(path: String, directory: [UInt8]) {
            self.path = path
            self.directory = directory
        }
    }

    /// The key for new requests.
    public let key: TokenPublicKey
    /// The ids of the keys that both directories list, ``key`` first.
    public let keyIds: [TokenKeyId]

    /// Compares two views at the time `now` in seconds since 1970.
    ///
    /// Both must select the same key now. The other keys may differ: a copy can be older, and lacks a key that was
    /// announced since.
    ///
    /// - Throws: ``BlindTokenError/keysDiffer(_:path:other:otherPath:)``, or the error of a directory that cannot be
    ///   read or has no usable key.
    public init(_ view: View, _ other: View, at now: UInt64) throws(BlindTokenError) {
        let directory = try IssuerDirectory(json: view.directory)
        let otherDirectory = try IssuerDirectory(json: other.directory)
        let key = try directory.key(at: now)
        let otherKey = try otherDirectory.key(at: now)
        guard key == otherKey else {
            throw .keysDiffer(key.keyId, path: view.path, other: otherKey.keyId, otherPath: other.path)
        }
        let others = Set(otherDirectory.keys.map(\.publicKey.keyId))
        self.key = key
        keyIds =
            [key.keyId]
            + directory.keys.map(\.publicKey.keyId).filter { $0 != key.keyId && others.contains($0) }
    }
}
