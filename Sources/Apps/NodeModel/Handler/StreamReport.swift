internal import Circle
internal import CommandModel

/// A stream of the circle: a group, or the thoughts of one person for many.
package struct StreamReport: Report, Hashable {
    /// A person whom the creator invited.
    struct Member: Codable, Hashable {
        let personId: String
        let name: String
        /// Whether the person consented.
        let joined: Bool
        /// The trust in the person; `trusted` for this device's person.
        let trust: Trust.State
    }

    package let streamId: String
    package let name: String
    let blurb: String?
    let creatorId: String
    /// The name of the person who made it, or the id.
    let creator: String
    /// Whether this device's person made it.
    let own: Bool
    let posting: StreamPolicies.Posting
    let innerCircle: Bool
    let participation: Circle.Stream.Participation
    /// The people besides the creator; empty for a member of a stream in which the creator alone writes.
    let members: [Member]

    init(_ stream: Circle.Stream, _ names: PeopleNames) {
        streamId = stream.publicID.text
        name = stream.profile.name
        blurb = stream.profile.blurb
        creatorId = stream.creatorPublicID.text
        creator = names.name(of: stream.creatorPublicID)
        own = names.isOwn(stream.creatorPublicID)
        posting = stream.policies.posting
        innerCircle = stream.isInnerCircle
        participation = stream.participation
        members = stream.members.map { member in
            Member(
                personId: member.person.text,
                name: names.name(of: member.person),
                joined: member.hasJoined,
                trust: names.trust(in: member.person)
            )
        }
    }

    /// Whether this person left it, or was removed.
    var isLeft: Bool { participation == .left }

    /// Whether people see it in the list of the circle: each person has streams without members from the beginning.
    var isListed: Bool { !own || !members.isEmpty }

    /// The number of people who joined, with the creator; nil if only the creator knows.
    package var memberCount: Int? {
        guard posting == .members || own else { return nil }
        return 1 + members.count { $0.joined }
    }

    /// The reason why this person cannot write, with the next step; nil if the person can.
    package var reasonForSilence: String? {
        switch participation {
        case .invited: "you have not joined this stream: `runar circle stream join` joins it"
        case .left: "you are not in this stream any longer: ask \(creator) for an invitation"
        case .joined: posting == .creator && !own ? "only \(creator) writes in this stream" : nil
        }
    }

    /// The state of this person's participation, and who writes, in a few words.
    package var summary: String {
        let count = memberCount.map { "\($0) member\($0 == 1 ? "" : "s")" }
        let words = count ?? "only \(creator) writes"
        switch participation {
        case .invited: return "\(words), you are invited"
        case .left: return "\(words), you left"
        case .joined: return words
        }
    }

    package var lines: [String] {
        var lines = ["\(name) (\(streamId))", "  made by        \(own ? "you" : creator)"]
        switch posting {
        case .members: lines.append("  writing        every member")
        case .creator: lines.append("  writing        \(own ? "you" : creator) alone")
        }
        if !own { lines.append("  you            \(state)") }
        lines += members.map { "  member         \($0.name), \($0.joined ? "joined" : "invited")" }
        return lines
    }

    private var state: String {
        switch participation {
        case .invited: "you are invited: `runar circle stream join` or `runar circle stream leave`"
        case .joined: "joined"
        case .left: "left: \(creator) can invite you again"
        }
    }
}
