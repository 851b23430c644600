package import Circle
internal import CommandModel
internal import Foundation

// The people and streams that a person names.
extension RequestHandler {
    /// The fewest characters of an id that are looked up: fewer are a slip.
    private static let fewestCharacters = 4

    /// A person or a stream that a text may name.
    private struct Candidate {
        let place: ConversationPlace
        let name: String?

        var id: String { place.id.text }
    }

    /// The kind of the candidates, in words.
    private struct Kind {
        /// The last word of the codes of failures.
        let code: String
        let words: String

        static let person = Kind(code: "person", words: "a person in your circle")
        static let blocked = Kind(code: "person", words: "a person you blocked")
        static let stream = Kind(code: "stream", words: "a stream")
        static let conversation = Kind(code: "conversation", words: "a person in your circle or of a stream")
    }

    /// Finds a person by id, by the beginning of the id, or by name.
    ///
    /// - Throws: ``CommandFailure`` if no person matches, or several do.
    package func resolve(_ name: PersonName) throws -> PublicID {
        try Self.choose(name.text, among: people { $0.trust != .none }, .person).id
    }

    /// Finds a person, of whom this device may have only the id.
    ///
    /// - Throws: ``CommandFailure`` if several people match, or none and it is no id.
    func resolveAnyone(_ name: PersonName) throws -> PublicID {
        if let id = try? PublicID(text: name.text) { return id }  // no id: looked up below
        return try Self.choose(name.text, among: people { _ in true }, .person).id
    }

    /// Finds a blocked person by id, by the beginning of the id, or by name.
    ///
    /// - Throws: ``CommandFailure`` if no person matches, or several do.
    func resolveBlocked(_ name: PersonName) throws -> PublicID {
        let circle = try circle()
        let names = PeopleNames(circle)
        let blocked = try circle.blockedProfiles().map { profile in
            Candidate(place: .person(profile.blockedPublicID), name: names.name(of: profile.blockedPublicID))
        }
        return try Self.choose(name.text, among: blocked, .blocked).id
    }

    /// Finds a stream by id, by the beginning of the id, or by name.
    ///
    /// - Throws: ``CommandFailure`` if no stream matches, or several do.
    package func resolve(_ name: StreamName) throws -> PublicID {
        try Self.choose(name.text, among: streamCandidates(), .stream).id
    }

    /// Finds a person or a stream by id, by the beginning of the id, or by name.
    ///
    /// - Throws: ``CommandFailure`` if none matches, or several do.
    package func resolve(_ name: ConversationName) throws -> ConversationPlace {
        try Self.choose(name.text, among: people { $0.trust != .none } + streamCandidates(), .conversation)
    }

    private func people(where isIncluded: (Person) -> Bool) throws -> [Candidate] {
        try circle().people.filter(isIncluded).map { person in
            Candidate(place: .person(person.id), name: person.card?.profile.name)
        }
    }

    private func streamCandidates() throws -> [Candidate] {
        try circle().streams().map { Candidate(place: .stream($0.publicID), name: $0.profile.name) }
    }

    private static func choose(_ text: String, among candidates: [Candidate], _ kind: Kind) throws -> ConversationPlace
    {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        // An id has precedence over names: a person whose name is the id of another one must not hide that one.
        if let match = candidates.first(where: { $0.id == text }) { return match.place }
        let named = candidates.filter { $0.name == text }
        let isLong = text.count >= fewestCharacters
        let matches = named.isEmpty ? candidates.filter { isLong && $0.id.hasPrefix(text) } : named
        guard let match = matches.first else {
            throw CommandFailure(
                "no-such-\(kind.code)",
                .data,
                "\"\(text)\" is no name, id or beginning of an id (\(fewestCharacters) characters or more) of \(kind.words):"
                    + " `runar circle list` shows them",
                http: 404
            )
        }
        guard matches.count == 1 else {
            throw CommandFailure(
                "ambiguous-\(kind.code)",
                .data,
                "\"\(text)\" may be any of \(matches.map(\.id).joined(separator: ", ")): give the beginning of the id"
            )
        }
        return match.place
    }
}
