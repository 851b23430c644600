internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Identity

// Letters about streams: descriptions, and the part that people take.
extension CircleDriver {
    /// The description of a stream for a device; nil if the device is not to have it any longer.
    func description(of id: PublicID, for device: PeerId) throws -> StreamDescription? {
        guard let stream = try store.stream(id) else { return nil }
        let isOwn = otherDevices.contains(device)
        let person = trustedPerson(of: device)
        guard isOwn || stream.creatorPublicID == ownId && stream.members.contains(where: { $0.person == person }) else {
            return nil
        }
        let isShown = isOwn || stream.policies.posting == .members
        let invited = isOwn && stream.creatorPublicID == ownId ? stream.members.filter { !$0.hasJoined } : []
        return try StreamDescription(
            stream,
            cards: isShown ? stream.joined.compactMap(card) : [],
            invited: invited.compactMap { card(of: $0.person) }
        )
    }

    /// Checks that the cards of all people of a stream fit into one description.
    ///
    /// - Throws: ``CircleError/tooLong(_:limit:found:)``.
    func checkDescription(of stream: Stream) throws {
        let invited = stream.members.filter { !$0.hasJoined }
        _ = try StreamDescription(
            stream,
            cards: stream.joined.compactMap(card),
            invited: invited.compactMap { card(of: $0.person) }
        )
    }

    private func card(of person: PublicID) -> ProfileCard? {
        state.withLock { $0.people[person]?.card ?? (person == $0.ownCard?.publicID ? $0.ownCard : nil) }
    }

    /// The letter to a device about the part that this person, or the device's person, takes in a stream.
    func participation(in id: PublicID, for device: PeerId) throws -> ParticipationNotice? {
        guard let stream = try store.stream(id) else {
            return try ParticipationNotice(.left, in: id)
        }
        guard stream.creatorPublicID == ownId else {
            return stream.participation == .invited ? nil : try ParticipationNotice(stream.participation, in: id)
        }
        let person = trustedPerson(of: device)
        guard person != ownId else { return nil }
        return stream.members.contains { $0.person == person } ? nil : try ParticipationNotice(.left, in: id)
    }

    /// Stores the description of a stream from its creator, or from another device of this person; nil if it is not new.
    ///
    /// Called with the mutex held.
    func apply(
        _ description: StreamDescription,
        from person: PublicID,
        _ device: PeerId
    ) throws -> StreamChange? {
        let (id, creator) = (description.publicID, description.creatorPublicID)
        let isOwn = person == ownId
        guard isOwn || creator == person, description.isNamed(by: creator) else {
            throw CircleError.notAllowed("only the person who made a stream describes it")
        }
        let before = try store.stream(id)
        guard before?.creatorPublicID ?? creator == creator else { return nil }
        // Joining a stream that one person writes is no consent to trust others, and must not become one.
        guard before?.policies ?? description.policies == description.policies else {
            throw CircleError.notAllowed("a stream does not change who writes in it")
        }
        let deleted = try creator == ownId && before == nil ? store.deletedRevision(of: id) : nil
        // Another own device may describe a stream before it learns that this one deleted it. Only a stream that each
        // person has is made again.
        guard deleted == nil || description.isDefault(of: creator) else { return nil }
        let revision = before?.revision ?? deleted ?? 0
        // Two own devices changed it at one moment: the description of the lower PeerId counts.
        let isEqual = before != nil && revision == description.revision
        let isTie = isOwn && creator == ownId && isEqual && device < localPeerId
        guard revision < description.revision || isTie else { return nil }
        let count = try store.streams().count { $0.creatorPublicID == creator }
        guard isOwn || before != nil || count < Self.streamLimit else {
            throw CircleError.tooLong("the list of a person's streams", limit: Self.streamLimit, found: count + 1)
        }
        for card in description.members + description.invited where card.publicID != ownId { try note(card) }
        let stream = Stream(description, before, of: ownId)
        try store.save(stream)
        guard isTie, let before else { return StreamChange(stream: stream, told: []) }
        let merged = try change(id) { try merge(before, into: &$0) }
        return merged ?? StreamChange(stream: stream, told: [])
    }

    /// Applies the changes of this device to a description that another own device made at one moment with it.
    private func merge(_ before: Stream, into stream: inout Stream) throws {
        let id = stream.publicID
        try stream.members.removeAll { try store.hasRemoved($0.person, from: id) }
        for member in before.members where !member.hasJoined {
            if !stream.members.contains(where: { $0.person == member.person }) { stream.members.append(member) }
        }
    }

    /// Stores the word of a member that it joined or left, of the creator that this person was removed, or of another own
    /// device.
    ///
    /// Called with the mutex held.
    func apply(_ notice: ParticipationNotice, from person: PublicID) throws -> StreamChange? {
        guard var stream = try store.stream(notice.stream) else {
            // The description follows.
            if person == ownId, notice.participation == .joined { throw NotYet() }
            return nil
        }
        if stream.creatorPublicID == ownId, person == ownId {
            guard notice.participation == .left else { return nil }
            try store.delete(stream)
            stream.participation = .left
            return StreamChange(stream: stream, told: [])
        }
        if stream.creatorPublicID == ownId {
            return try change(notice.stream) { stream in
                guard let place = stream.members.firstIndex(where: { $0.person == person }) else {
                    // Another own device may have invited the person, and its description follows. Without other devices the
                    // person was removed before, and is notified again.
                    if notice.participation == .joined {
                        guard otherDevices.isEmpty else { throw NotYet() }
                        let devices = self.devices(of: [person])
                        try store.owe([StoredOwedLetter(.participation, notice.stream.bytes)], to: devices)
                    }
                    return
                }
                switch notice.participation {
                case .joined: stream.members[place] = Stream.Member(person: person, hasJoined: true)
                case .left: stream.members.remove(at: place)
                case .invited: break
                }
            }
        }
        let isCreators = person == stream.creatorPublicID && notice.participation == .left
        guard person == ownId || isCreators, stream.participation != notice.participation else { return nil }
        stream.participation = notice.participation
        try store.save(stream)
        return StreamChange(stream: stream, told: [])
    }

    /// The letters that a revocation owes: the descriptions of streams that lose the person.
    func letters(afterLosing person: PublicID) throws -> [(letter: StoredOwedLetter, peer: PeerId)] {
        let streams = try store.streams().filter { stream in
            stream.creatorPublicID == ownId && stream.members.contains { $0.person == person }
        }
        return streams.flatMap { stream in
            (devices(of: stream.joined.filter { $0 != person }) + otherDevices).map {
                (StoredOwedLetter(.stream, stream.publicID.bytes), $0)
            }
        }
    }
}
