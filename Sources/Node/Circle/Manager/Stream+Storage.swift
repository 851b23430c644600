internal import CircleModel
internal import CircleStore
internal import Essentials

// A stream as it is stored, and as its creator describes it.
extension Stream {
    /// The participants: the creator and the members who joined.
    var joined: [PublicID] { [creatorPublicID] + members.filter(\.hasJoined).map(\.person) }

    /// Whether a person may write.
    func posting(by person: PublicID) -> Bool {
        person == creatorPublicID || policies.posting == .members && joined.contains(person)
    }

    /// Reads a stored stream; nil if a column has a value that this program does not write.
    init?(_ stored: StoredStream) {
        guard let id = UUID(bytes: stored.id), let participation = Participation(rawValue: stored.participation),
            let creator = try? PublicID(bytes: stored.creator)  // nil: see above
        else { return nil }
        let policies = stored.policies.flatMap { text in
            try? JSONDecoder().decode(StreamPolicies.self, from: Data(text.utf8))  // nil: see above
        }
        self.init(
            id: id,
            creatorPublicID: creator,
            profile: Profile(stored.profile, id: id),
            policies: policies ?? StreamPolicies(),
            isInnerCircle: stored.isInnerCircle,
            sourcePublicID: stored.source.flatMap { try? PublicID(bytes: $0) },  // nil: see above
            members: stored.members.compactMap { member in
                let person = try? PublicID(bytes: member.publicID)  // nil: see above
                return person.map { Member(person: $0, hasJoined: member.hasJoined) }
            },
            participation: participation,
            revision: stored.revision
        )
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

extension StoredStream {
    init(_ stream: Stream) {
        let policies = try? JSONEncoder().encode(stream.policies)  // never fails: two words
        self.init(
            id: stream.id.bytes,
            publicID: stream.publicID.bytes,
            creator: stream.creatorPublicID.bytes,
            policies: policies.map { String(decoding: $0, as: UTF8.self) },
            profile: StoredProfile(stream.profile),
            isInnerCircle: stream.isInnerCircle,
            source: stream.sourcePublicID?.bytes,
            revision: stream.revision,
            participation: stream.participation.rawValue,
            members: stream.members.map { Member(publicID: $0.person.bytes, hasJoined: $0.hasJoined) }
        )
    }
}

extension Profile {
    /// A stored profile with the id `id`.
    init(_ stored: StoredProfile, id: UUID) {
        self.init(
            id: id,
            name: stored.name,
            blurb: stored.blurb,
            interests: stored.interests,
            location: stored.location,
            hasHighEncryption: stored.hasHighEncryption,
            hasHighIdentityAssurance: stored.hasHighIdentityAssurance,
            did: stored.did,
            handle: stored.handle
        )
    }
}
