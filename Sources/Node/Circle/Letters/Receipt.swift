internal import Bytes

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
        do {
            bytes = try CBOR.serialize(Fields(state: state, thoughts: thoughts))
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
        self.state = state
        self.thoughts = thoughts
    }

    /// Reads a receipt.
    ///
    /// - Throws: ``CircleError``.
    init(_ bytes: [UInt8]) throws(CircleError) {
        do {
            let fields = try CBOR.deserialize(Fields.self, from: bytes, limit: Letter.bodyByteLimit)
            guard try CBOR.serialize(fields) == bytes else {
                throw BytesError.nonCanonical("the fields are not in deterministic CBOR")
            }
            state = fields.state
            thoughts = fields.thoughts
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
        guard thoughts.count <= Self.thoughtLimit else {
            throw .tooLong(Self.subject, limit: Self.thoughtLimit, found: thoughts.count)
        }
        self.bytes = bytes
    }
}
