internal import CircleModel
internal import Essentials
internal import Identity

/// The creator's description of a stream, as the content of a letter in deterministic CBOR (`docs/spec/circle.md`).
struct StreamDescription: Hashable, Sendable {
    private static let subject = "the description of a stream"

    private struct Fields: Codable {
        var version: Int
        var id: [UInt8]
        var creatorPublicID: PublicID
        var name: String
        var blurb: String?
        var posting: StreamPolicies.Posting
        var isInnerCircle: Bool
        var sourcePublicID: PublicID?
        var revision: UInt64
        var members: [[UInt8]]
        var invited: [[UInt8]]
    }

    let id: UUID
    let creatorPublicID: PublicID
    let profile: Profile
    let policies: StreamPolicies
    let isInnerCircle: Bool
    let sourcePublicID: PublicID?
    let revision: UInt64
    /// The cards of the members who joined; empty if only the creator writes.
    let members: [ProfileCard]
    /// The cards of invited people who have not joined, for other devices of the creator alone.
    let invited: [ProfileCard]
    /// The encoding.
    let bytes: [UInt8]

    var publicID: PublicID { PublicID(of: id) }

    /// Describes a stream whose members have `cards`.
    ///
    /// - Throws: ``CircleError``.
    init(_ stream: Stream, cards: [ProfileCard], invited: [ProfileCard] = []) throws(CircleError) {
        let fields = Fields(
            version: 1,
            id: stream.id.bytes,
            creatorPublicID: stream.creatorPublicID,
            name: stream.profile.name,
            blurb: stream.profile.blurb,
            posting: stream.policies.posting,
            isInnerCircle: stream.isInnerCircle,
            sourcePublicID: stream.sourcePublicID,
            revision: stream.revision,
            members: cards.map(\.bytes),
            invited: invited.map(\.bytes)
        )
        try self.init(CanonicalCBOR.encode(fields, of: Self.subject))
    }

    /// Reads a description, and verifies the cards in it.
    ///
    /// - Throws: ``CircleError``.
    init(_ bytes: [UInt8]) throws(CircleError) {
        let limit = ThoughtServiceModel.contentByteLimit
        let fields = try CanonicalCBOR.decode(Fields.self, from: bytes, limit: limit, of: Self.subject)
        try CanonicalCBOR.checkVersion(fields.version, of: Self.subject)
        guard let id = UUID(bytes: fields.id) else {
            throw .malformed(of: Self.subject, reason: "its id has \(fields.id.count) bytes and not 16")
        }
        guard fields.revision <= UInt64(Int64.max) else {
            throw .malformed(of: Self.subject, reason: "its revision is above 2^63")
        }
        let count = fields.members.count + fields.invited.count
        // The creator's own card is among them for other members.
        guard count <= Stream.memberLimit + 1 else {
            throw .tooLong("the list of members", limit: Stream.memberLimit, found: count)
        }
        var (members, invited): ([ProfileCard], [ProfileCard]) = ([], [])
        for card in fields.members { members.append(try ProfileCard(card)) }
        for card in fields.invited { invited.append(try ProfileCard(card)) }
        guard Set((members + invited).map(\.publicID)).count == count else {
            throw .malformed(of: Self.subject, reason: "it names a person twice")
        }
        self.id = id
        self.members = members
        self.invited = invited
        self.bytes = bytes
        creatorPublicID = fields.creatorPublicID
        profile = Profile(id: id, name: fields.name, blurb: fields.blurb)
        policies = StreamPolicies(posting: fields.posting)
        isInnerCircle = fields.isInnerCircle
        sourcePublicID = fields.sourcePublicID
        revision = fields.revision
        try profile.check()
    }
}
