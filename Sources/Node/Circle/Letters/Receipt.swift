internal import CircleModel

/// The recipient's word on thoughts that it received, in deterministic CBOR.
struct Receipt: Hashable, Sendable {
    /// The progress that a receipt reports.
    enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// The device has stored the thoughts.
        case delivered
        /// A person saw them.
        case opened
    }

    /// The most thoughts of one receipt.
    static let thoughtLimit = 256
    private static let subject = "a receipt"

    private struct Fields: Codable {
        var state: State
        var thoughts: [PublicID]
    }

    let state: State
    let thoughts: [PublicID]
    /// The encoding.
    let bytes: [UInt8]

    init(_ state: State, of thoughts: [PublicID]) throws(CircleError) {
        bytes = try CanonicalCBOR.encode(Fields(state: state, thoughts: thoughts), of: Self.subject)
        self.state = state
        self.thoughts = thoughts
    }

    /// Reads a receipt.
    ///
    /// - Throws: ``CircleError``.
    init(_ bytes: [UInt8]) throws(CircleError) {
        let fields = try CanonicalCBOR.decode(Fields.self, from: bytes, limit: Letter.bodyByteLimit, of: Self.subject)
        state = fields.state
        thoughts = fields.thoughts
        guard thoughts.count <= Self.thoughtLimit else {
            throw .tooLong(Self.subject, limit: Self.thoughtLimit, found: thoughts.count)
        }
        self.bytes = bytes
    }
}
