/// A file that a peer has checked and stored.
public struct SentFile: Hashable, Sendable {
    /// The name that the peer gave it: the offered one, made harmless, shortened or numbered.
    public let name: String
    /// Its size, in bytes.
    public let byteCount: UInt64
    /// Whether the local file has grown since it was offered; the peer has the bytes that were offered.
    public let hasGrown: Bool
}
