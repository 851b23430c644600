/// A type that holds bytes and nothing else, read and written in one piece.
///
/// Bincode gives `Data` the same bytes with and without this conformance; with it, it is fast. CBOR writes a byte string
/// only for types that have it, and for `[UInt8]`.
package protocol ByteBlob: Codable, Collection<UInt8> {
    /// Copies `bytes`.
    init(_ bytes: ArraySlice<UInt8>)
}
