/// How the body of a request or a response is written.
package enum ContentType: UInt8, Sendable, CaseIterable {
    /// There is no body, or nobody says how it is written.
    case none = 0
    case json = 1
    case messagePack = 2
    case cbor = 3
    /// Bytes that are nobody's business but the two ends'.
    case bytes = 4
}
