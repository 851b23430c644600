package import Circle

/// The place of thoughts to which a name resolves.
package enum ConversationPlace: Hashable, Sendable {
    /// The conversation with a person.
    case person(PublicID)
    case stream(PublicID)

    /// The id of the person or the stream.
    var id: PublicID {
        switch self {
        case .person(let id), .stream(let id): id
        }
    }

    /// The id of the stream that holds the thoughts.
    func streamId(in circle: CircleManager) -> PublicID {
        switch self {
        case .person(let id): circle.conversation(with: id)
        case .stream(let id): id
        }
    }
}
