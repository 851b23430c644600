internal import CircleModel

/// A letter about the part that a person takes in a stream, in deterministic CBOR.
struct ParticipationNotice: Hashable, Sendable {
    private static let subject = "a notice of participation"

    private struct Fields: Codable {
        var stream: PublicID
        var participation: Stream.Participation
    }

    let stream: PublicID
    /// The part that a member takes by its own word; from the creator `left`, because the recipient was removed.
    let participation: Stream.Participation
    /// The encoding.
    let bytes: [UInt8]

    init(_ participation: Stream.Participation, in stream: PublicID) throws(CircleError) {
        bytes = try CanonicalCBOR.encode(Fields(stream: stream, participation: participation), of: Self.subject)
        self.stream = stream
        self.participation = participation
    }

    /// Reads a notice.
    ///
    /// - Throws: ``CircleError``.
    init(_ bytes: [UInt8]) throws(CircleError) {
        let fields = try CanonicalCBOR.decode(Fields.self, from: bytes, limit: Letter.bodyByteLimit, of: Self.subject)
        stream = fields.stream
        participation = fields.participation
        self.bytes = bytes
    }
}
