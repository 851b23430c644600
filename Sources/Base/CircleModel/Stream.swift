public import Essentials
internal import Identity

/// A place for thoughts: the conversation of two people, a group, or one person's posts to many.
///
/// The creator invites people, and each of them joins by consent. A thought goes to every device of those who joined and
/// whom its creator trusts.
public struct Stream: Hashable, Sendable, Identifiable {
    /// The most people of a stream besides its creator.
    public static let memberLimit = 64

    /// A person whom the creator invited.
    public struct Member: Hashable, Sendable {
        /// The id of the person.
        public let person: PublicID
        /// Whether the person consented.
        public let hasJoined: Bool

        package init(person: PublicID, hasJoined: Bool) {
            self.person = person
            self.hasJoined = hasJoined
        }
    }

    /// The part that this device's person takes in a stream.
    public enum Participation: String, Hashable, Sendable, Codable, CaseIterable {
        /// The creator invited this person. Can transition to `joined` or `left`.
        case invited
        /// This person participates. Can transition to `left`.
        case joined
        /// This person left, was removed, or does not trust the creator any longer. Can transition to `invited` or `joined`.
        case left
    }

    /// The id on this device, which follows the stream to other devices.
    public let id: UUID
    /// The person who made the stream, and who alone invites and removes.
    public let creatorPublicID: PublicID
    /// The name and the blurb.
    public let profile: Profile
    /// The rules.
    public let policies: StreamPolicies
    /// Whether the creator calls it the inner circle.
    public let isInnerCircle: Bool
    /// The thought from which the stream originates, if any.
    public let sourcePublicID: PublicID?
    /// The people besides the creator; if only the creator writes, only the creator has the list.
    public package(set) var members: [Member]
    /// The part that this device's person takes.
    public package(set) var participation: Participation
    /// Rises with each change of the description by its creator.
    package var revision: UInt64

    package init(
        id: UUID,
        creatorPublicID: PublicID,
        profile: Profile,
        policies: StreamPolicies,
        isInnerCircle: Bool,
        sourcePublicID: PublicID?,
        members: [Member],
        participation: Participation,
        revision: UInt64
    ) {
        self.id = id
        self.creatorPublicID = creatorPublicID
        self.profile = profile
        self.policies = policies
        self.isInnerCircle = isInnerCircle
        self.sourcePublicID = sourcePublicID
        self.members = members
        self.participation = participation
        self.revision = revision
    }

    /// The id that other people see.
    public var publicID: PublicID { PublicID(of: id) }
}

/// The rules of a stream.
public struct StreamPolicies: Hashable, Sendable, Codable {
    /// The people who write.
    public enum Posting: String, Hashable, Sendable, Codable, CaseIterable {
        /// Every member; they see each other's cards.
        case members
        /// The creator alone; members do not learn of each other.
        case creator
    }

    /// The people who write.
    public var posting: Posting

    /// Makes rules.
    public init(posting: Posting = .members) {
        self.posting = posting
    }
}

/// A stream that each person has from the beginning, without members.
package enum DefaultStream: String, CaseIterable {
    case video
    case post
    case innerCircle = "inner-circle"

    private static let label = DomainLabel("runar/default-stream/v1")

    package var name: String {
        switch self {
        case .video: "Video"
        case .post: "Post"
        case .innerCircle: "Inner circle"
        }
    }

    package var posting: StreamPolicies.Posting {
        switch self {
        case .video, .post: .creator
        case .innerCircle: .members
        }
    }

    /// The id of a person's stream: a UUID of version 8, the same on each device of the person.
    package func id(of person: PublicID) -> UUID {
        UUID(version8: Self.label.message(person.bytes, Array(rawValue.utf8)))
    }
}
