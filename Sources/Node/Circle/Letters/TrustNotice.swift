internal import CircleModel

/// A letter to another device of the same person about the person's trust in another one, in deterministic CBOR.
struct TrustNotice: Hashable, Sendable {
    private static let subject = "a notice of trust"

    private struct Fields: Codable {
        var card: [UInt8]
        var trust: Trust.State
        var changed: UInt64
    }

    /// The newest card of the other person.
    let card: ProfileCard
    let trust: Trust.State
    /// The time of the change in seconds since 1970; a later change replaces an earlier one.
    let changedSeconds: UInt64
    /// The encoding.
    let bytes: [UInt8]

    init(_ trust: Trust.State, in card: ProfileCard, changedSeconds: UInt64) throws(CircleError) {
        bytes = try CanonicalCBOR.encode(
            Fields(card: card.bytes, trust: trust, changed: changedSeconds),
            of: Self.subject
        )
        self.card = card
        self.trust = trust
        self.changedSeconds = changedSeconds
    }

    /// Reads a notice, and verifies its card.
    ///
    /// - Throws: ``CircleError``.
    init(_ bytes: [UInt8]) throws(CircleError) {
        let fields = try CanonicalCBOR.decode(Fields.self, from: bytes, limit: Letter.bodyByteLimit, of: Self.subject)
        self.bytes = bytes
        card = try ProfileCard(fields.card)
        trust = fields.trust
        changedSeconds = fields.changed
    }
}
