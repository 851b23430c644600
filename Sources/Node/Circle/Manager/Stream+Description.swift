internal import CircleModel
internal import Essentials

// A stream as its creator describes it.
extension Stream {
    /// The participants: the creator and the members who joined.
    var joined: [PublicID] { [creatorPublicID] + members.filter(\.hasJoined).map(\.person) }

    /// Whether a person may write.
    func posting(by person: PublicID) -> Bool {
        person == creatorPublicID || policies.posting == .members && joined.contains(person)
    }

    /// Applies a received description; `person` is this device's person, and `before` the stream as it was stored.
    init(_ description: StreamDescription, _ before: Stream?, of person: PublicID) {
        let isOwn = description.creatorPublicID == person
        let names = description.members.map(\.publicID).filter { $0 != description.creatorPublicID }
        let participation: Participation =
            switch before?.participation {
            case .joined: .joined
            case .invited, nil: isOwn ? .joined : .invited
            // The creator has not yet received that this person left, or invites again.
            case .left: names.contains(person) ? .left : .invited
            }
        // Only the creator's devices know the invited people who have not joined.
        let invited = isOwn ? description.invited.map { Member(person: $0.publicID, hasJoined: false) } : []
        self.init(
            id: description.id,
            creatorPublicID: description.creatorPublicID,
            profile: description.profile,
            policies: description.policies,
            isInnerCircle: description.isInnerCircle,
            sourcePublicID: description.sourcePublicID,
            members: names.map { Member(person: $0, hasJoined: true) } + invited,
            participation: participation,
            revision: description.revision
        )
    }
}

extension StreamDescription {
    /// Whether the id is one that `creator` may give: random, or that of a stream that each person has.
    ///
    /// Ids of conversations are neither.
    func isNamed(by creator: PublicID) -> Bool {
        id.bytes[6] >> 4 == 4 || isDefault(of: creator)
    }

    /// Whether the stream is one that each person has.
    func isDefault(of creator: PublicID) -> Bool {
        DefaultStream.allCases.contains { $0.id(of: creator) == id }
    }
}
