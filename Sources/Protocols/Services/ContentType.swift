/// The encoding of the body of a request or a response.
package enum ContentType: UInt8, Sendable, CaseIterable {
    /// There is no body, or its encoding is not stated.
    case none = 0
    case json = 1
    // The number 2 is reserved: it was MessagePack (docs/decisions/0047-payloads-have-no-messagepack.md).
    case cbor = 3
    /// Bytes in a format that only the two ends know.
    case bytes = 4
}
