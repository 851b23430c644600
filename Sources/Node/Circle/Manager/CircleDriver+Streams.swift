internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Essentials
internal import Identity

// Streams: the creator describes them in letters, and each person joins by consent.
extension CircleDriver {
    /// The most streams that another person invites this one to.
    static let streamLimit = 32

    // MARK: Reading

    /// All streams but conversations.
    func streams() throws -> [Stream] {
        let conversations = Set(state.withLock { $0.people.keys }.map(conversationId))
        return try store.streams().filter { !conversations.contains($0.publicID) }
    }

    func stream(_ id: PublicID) throws -> Stream {
        guard let stream = try store.stream(id) else { throw CircleError.unknownStream(id) }
        return stream
    }

    /// The stream that a thought of this person goes to, with the people who get it.
    func destination(_ id: PublicID) throws -> (stream: UUID, recipients: [PublicID]) {
        let people = state.withLock { $0.people }
        if let (person, known) = people.first(where: { conversationId(with: $0.key) == id }) {
            guard known.trust.state == .trusted else { throw CircleError.notTrusted(person) }
            return (try conversation(with: person, known), [person])
        }
        let stream = try stream(id)
        guard stream.participation == .joined else { throw CircleError.notJoined(id) }
        // A person who joined writes at once, although the creator's devices may be offline. Other members keep a few such
        // thoughts for a day, until the creator names the person as a member.
        guard stream.policies.posting == .members || stream.creatorPublicID == ownId else {
            throw CircleError.notAllowed("only the creator writes in this stream")
        }
        let recipients = stream.joined.filter { $0 != ownId && people[$0]?.trust.state == .trusted }
        return (stream.id, recipients)
    }

    /// The stream that a thought of a person belongs to; nil if it is not known yet.
    ///
    /// - Throws: ``CircleError`` if the thought may not be there.
    func place(of model: ThoughtServiceModel, from person: PublicID) throws -> UUID? {
        guard model.creatorPublicID == person else {
            throw CircleError.malformed(of: "a thought", reason: "it names another person")
        }
        let id = model.streamPublicID
        let people = state.withLock { $0.people }
        let isOwn = person == ownId
        if let (other, known) = people.first(where: { conversationId(with: $0.key) == id }) {
            guard isOwn || other == person else {
                throw CircleError.malformed(of: "a thought", reason: "it names another conversation")
            }
            return try conversation(with: other, known)
        }
        guard let stream = try store.stream(id) else {
            // Another own device reports people and streams in letters of its own.
            if isOwn || !otherDevices.isEmpty { return nil }
            throw CircleError.unknownStream(id)
        }
        if isOwn { return stream.id }
        // This person may have joined on another device.
        if stream.participation == .invited, !otherDevices.isEmpty { return nil }
        guard stream.participation == .joined else { throw CircleError.notJoined(id) }
        if stream.posting(by: person) { return stream.id }
        // The creator's word that the person joined may be on its way.
        if stream.policies.posting == .members { return nil }
        throw CircleError.notAllowed("only the creator writes in this stream")
    }

    // MARK: The creator

    /// Called with the mutex held.
    private func makeStream(
        _ id: UUID,
        name: String,
        blurb: String?,
        policies: StreamPolicies,
        isInnerCircle: Bool,
        source: PublicID?
    ) throws -> Stream {
        let profile = Profile(id: id, name: name, blurb: blurb)
        try profile.check()
        try makeAccount()
        let stream = Stream(
            id: id,
            creatorPublicID: ownId,
            profile: profile,
            policies: policies,
            isInnerCircle: isInnerCircle,
            sourcePublicID: source,
            members: [],
            participation: .joined,
            revision: 1 + (try store.deletedRevision(of: PublicID(of: id)) ?? 0)
        )
        try store.save(stream)
        try store.owe([StoredOwedLetter(.stream, stream.publicID.bytes)], to: otherDevices)
        return stream
    }

    func makeStream(
        name: String,
        blurb: String?,
        policies: StreamPolicies,
        isInnerCircle: Bool,
        source: PublicID?
    ) async throws -> Stream {
        let stream = try await mutex.withLock {
            try makeStream(
                UUID(),
                name: name,
                blurb: blurb,
                policies: policies,
                isInnerCircle: isInnerCircle,
                source: source
            )
        }
        await perform(StreamChange(stream: stream, told: otherDevices))
        return stream
    }

    /// Makes the streams that each person has; those that exist stay.
    func makeDefaultStreams() throws {
        for stream in DefaultStream.allCases {
            let id = stream.id(of: ownId)
            guard try store.stream(PublicID(of: id)) == nil else { continue }
            _ = try makeStream(
                id,
                name: stream.name,
                blurb: nil,
                policies: StreamPolicies(posting: stream.posting),
                isInnerCircle: stream == .innerCircle,
                source: nil
            )
        }
    }

    func invite(_ person: PublicID, to id: PublicID) async throws -> Stream {
        guard try known(person).trust.state == .trusted else { throw CircleError.notTrusted(person) }
        return try await changeOwn(id, telling: [person]) { stream in
            guard !stream.members.contains(where: { $0.person == person }) else { return }
            guard stream.members.count < Stream.memberLimit else {
                throw CircleError.tooLong(
                    "the list of members",
                    limit: Stream.memberLimit,
                    found: stream.members.count + 1
                )
            }
            stream.members.append(Stream.Member(person: person, hasJoined: false))
            try checkDescription(of: stream)
            try store.setRemoved(false, person, from: id)
        }
    }

    func remove(_ person: PublicID, from id: PublicID) async throws -> Stream {
        _ = try known(person)
        let devices = devices(belongingTo: person)
        let stream = try await changeOwn(id) { stream in
            guard stream.members.contains(where: { $0.person == person }) else { return }
            stream.members.removeAll { $0.person == person }
            try store.setRemoved(true, person, from: id)
            try store.owe([StoredOwedLetter(.participation, id.bytes)], to: devices)
        }
        for device in devices { await sendOwed(to: device) }
        return stream
    }

    /// Changes a stream of this person, and sends its description to those who joined, to `others`, and to this person's
    /// other devices.
    private func changeOwn(
        _ id: PublicID,
        telling others: [PublicID] = [],
        _ change: (inout Stream) throws -> Void
    ) async throws -> Stream {
        let changed = try await mutex.withLock { try self.change(id, telling: others, change) }
        guard let changed else { return try stream(id) }
        await perform(changed)
        return changed.stream
    }

    /// Changes a stream of this person and records who is owed its description; returns nil if nothing changes.
    ///
    /// Called with the mutex held.
    func change(
        _ id: PublicID,
        telling others: [PublicID] = [],
        _ change: (inout Stream) throws -> Void
    ) throws -> StreamChange? {
        let before = try stream(id)
        guard before.creatorPublicID == ownId else {
            throw CircleError.notAllowed("only the person who made a stream changes it")
        }
        var after = before
        try change(&after)
        guard after != before else { return nil }
        after.revision += 1
        let devices = self.devices(of: after.joined + others) + otherDevices
        try store.owe([StoredOwedLetter(.stream, id.bytes)], to: devices)
        try store.save(after)
        return StreamChange(stream: after, told: devices)
    }

    /// A stream that changed, with the devices that are owed a letter about it.
    struct StreamChange: Sendable {
        let stream: Stream
        let told: [PeerId]
    }

    /// Does what a change that is stored leads to.
    func perform(_ change: StreamChange) async {
        for device in change.told { await sendOwed(to: device) }
        events.send(.streamChanged(change.stream))
        consent(in: change.stream)
    }

    /// The devices of people whom this person trusts.
    func devices(of people: [PublicID]) -> [PeerId] {
        let state = state.withLock { $0 }
        return people.flatMap { person in
            state.people[person]?.trust.state == .trusted ? devices(belongingTo: person, in: state) : []
        }
    }

    // MARK: A member

    func setParticipation(_ participation: Stream.Participation, in id: PublicID) async throws -> Stream {
        let changed = try await mutex.withLock {
            var stream = try stream(id)
            guard stream.creatorPublicID != ownId else {
                throw CircleError.notAllowed("you made this stream: delete it, or remove its members")
            }
            let devices = self.devices(of: [stream.creatorPublicID]) + otherDevices
            guard participation != .joined || !self.devices(of: [stream.creatorPublicID]).isEmpty else {
                throw CircleError.notTrusted(stream.creatorPublicID)
            }
            stream.participation = participation
            // The other own devices may not have the description yet.
            try store.owe([StoredOwedLetter(.stream, id.bytes)], to: otherDevices)
            try store.owe([StoredOwedLetter(.participation, id.bytes)], to: devices)
            try store.save(stream)
            return StreamChange(stream: stream, told: devices)
        }
        await perform(changed)
        return changed.stream
    }

    /// Asks the other members of a stream for trust, or accepts their requests: joining a stream in which all write is the
    /// consent to that.
    ///
    /// A member that is offline takes seconds to dial, so no caller waits for it.
    private func consent(in stream: Stream) {
        guard stream.participation == .joined, stream.policies.posting == .members else { return }
        let people = state.withLock { $0.people }
        for person in stream.joined {
            switch people[person]?.trust.state {
            case .some(.none), .requested: _ = consents.offer(person)  // beyond the limit: at the next start
            case .invited, .trusted, .revoked, nil: break
            }
        }
    }

    /// Asks the people whom this person consented to trust by joining a stream, until the task is cancelled.
    func followConsents() async {
        await attempt("reading the streams") {
            for stream in try streams() { consent(in: stream) }
        }
        while let person = try? await consents.next() {  // nil: cancelled
            await attempt("asking a member of a stream") {
                let change = try await mutex.withLock { () -> TrustChange? in
                    guard try isConsented(person) else { return nil }
                    return try apply(.invite, to: person)
                }
                if let change { try await perform(change) }
            }
        }
    }

    /// Whether this person still participates in a stream of all writers with a person in whom trust was neither made nor
    /// revoked meanwhile.
    private func isConsented(_ person: PublicID) throws -> Bool {
        let (known, isBlocked, hasCard) = state.withLock { state in
            (state.people[person], state.blocked.contains(person), state.ownCard != nil)
        }
        guard hasCard, !isBlocked, let known, [.none, .requested].contains(known.trust.state) else { return false }
        return try streams().contains { stream in
            stream.participation == .joined && stream.policies.posting == .members && stream.joined.contains(person)
        }
    }

    /// Deletes a stream with its thoughts; its members are removed, or its creator learns that this person left.
    func deleteStream(_ id: PublicID) async throws {
        let (stream, devices) = try await mutex.withLock {
            let stream = try self.stream(id)
            let people = stream.creatorPublicID == ownId ? stream.members.map(\.person) : [stream.creatorPublicID]
            let devices = self.devices(of: people) + otherDevices
            try store.owe([StoredOwedLetter(.participation, id.bytes)], to: devices)
            try store.delete(stream)
            return (stream, devices)
        }
        for device in devices { await sendOwed(to: device) }
        var ended = stream
        ended.participation = .left
        events.send(.streamChanged(ended))
    }
}
