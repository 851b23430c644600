internal import Circle
internal import CommandModel
internal import Foundation

// The thoughts of conversations with people, and of streams.
extension RequestHandler {
    /// The most characters of a public id in base58, and more.
    private static let thoughtNameLimit = 64
    /// The most thoughts that one request notes as seen.
    private static let openedLimit = 256

    package func say(_ text: String, in name: ConversationName) async throws -> ThoughtReport {
        try await send(.say, Array(text.utf8), in: name)
    }

    package func send(_ attachment: Attachment, in name: ConversationName) async throws -> ThoughtReport {
        try await send(
            attachment.kind.mediaType,
            attachment.content,
            contentType: attachment.contentType,
            fileName: attachment.fileName,
            in: name
        )
    }

    private func send(
        _ mediaType: MediaType,
        _ content: [UInt8],
        contentType: String? = nil,
        fileName: String? = nil,
        in name: ConversationName
    ) async throws -> ThoughtReport {
        let (circle, place) = (try circle(), try resolve(name))
        let thought = try await circle.send(
            mediaType,
            content,
            contentType: contentType,
            fileName: fileName,
            in: place.streamId(in: circle)
        )
        return ThoughtReport(thought, in: place, PeopleNames(circle))
    }

    /// Returns the content of a thought, which is named by its public id or its number.
    package func thoughtContent(_ thought: String, in name: ConversationName) throws -> ThoughtContentReport {
        let (circle, place) = (try circle(), try resolve(name))
        return ThoughtContentReport(try Self.find(thought, in: circle, place.streamId(in: circle)))
    }

    private static func find(_ name: String, in circle: CircleManager, _ stream: PublicID) throws -> Thought {
        if let number = UInt64(name), number < UInt64(Int64.max) {
            let found = try circle.thoughts(in: stream, before: number + 1, limit: 1).first
            if let found, found.number == number { return found }
        } else if name.utf8.count <= thoughtNameLimit, let id = try? PublicID(text: name) {  // no id: refused below
            let found = try circle.thought(id)
            if found.model.streamPublicID == stream { return found }
        }
        throw CommandFailure(
            "no-such-thought",
            .data,
            "\"\(name)\" is no number or id of a thought in this conversation: `runar circle history` shows the numbers",
            http: 404
        )
    }

    /// Returns the newest thoughts of a conversation, or those that contain a text.
    package func thoughts(in name: ConversationName, _ query: ThoughtsQuery) throws -> ThoughtsReport {
        let (circle, place) = (try circle(), try resolve(name))
        let (stream, names) = (place.streamId(in: circle), PeopleNames(circle))
        let limit = query.limit ?? 50
        let (thoughts, searchedTo): ([Thought], UInt64?) =
            if let search = query.search.flatMap(Search.init) {
                try circle.search(in: stream, before: query.before, limit: limit) { thought in
                    thought.text.map(search.isIn) == true
                }
            } else {
                (try circle.thoughts(in: stream, before: query.before, limit: limit), nil)
            }
        let reports = thoughts.map { ThoughtReport($0, in: place, names) }
        switch place {
        case .person(let person):
            return ThoughtsReport(person: try report(of: person), thoughts: reports, searchedTo: searchedTo)
        case .stream(let id):
            let stream = StreamReport(try circle.stream(id), names)
            return ThoughtsReport(stream: stream, thoughts: reports, searchedTo: searchedTo)
        }
    }

    /// Notifies the creators that thoughts were seen, by their first and last number.
    package func noteOpened(_ name: ConversationName, from first: UInt64, to last: UInt64) async throws -> DoneReport {
        let (circle, place) = (try circle(), try resolve(name))
        let (end, isOverflow) = last.addingReportingOverflow(1)
        let thoughts = try circle.thoughts(
            in: place.streamId(in: circle),
            before: isOverflow ? nil : end,
            limit: Self.openedLimit
        )
        try await circle.noteOpened(thoughts.filter { $0.number >= first })
        return DoneReport(done: true)
    }

    /// Reports each change in a conversation until the request is cancelled.
    package func followThoughts(in name: ConversationName, _ tell: @escaping Tell) async throws {
        let (circle, place) = (try circle(), try resolve(name))
        let (stream, events) = (place.streamId(in: circle), circle.events)
        await tell(.circle(try circleReport()))
        for await event in events {
            switch event {
            case .trustChanged(let person, _), .profileChanged(let person):
                guard place.concerns(person.id) else { continue }
                await tell(.circle(try circleReport()))
            case .streamChanged(let changed):
                guard place == .stream(changed.publicID) else { continue }
                await tell(.circle(try circleReport()))
            case .thoughtReceived(let thought), .deliveryChanged(let thought):
                guard thought.model.streamPublicID == stream else { continue }
                await tell(.thought(ThoughtReport(thought, in: place, PeopleNames(circle))))
            case .cardChanged: continue
            }
        }
    }
}

extension ConversationPlace {
    /// Whether its report changes with a person; for a stream always, because people join and leave.
    fileprivate func concerns(_ person: PublicID) -> Bool {
        switch self {
        case .person(let id): id == person
        case .stream: true
        }
    }
}
