package import Essentials
internal import Identity

/// The stream of two people, which both of them name alike.
package enum Conversation {
    private static let label = DomainLabel("runar/conversation/v1")

    /// The id of the stream: a UUID of version 8 from the public ids of the two.
    package static func id(between one: PublicID, and other: PublicID) -> UUID {
        UUID(version8: label.message(min(one, other).bytes, max(one, other).bytes))
    }
}
