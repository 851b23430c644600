internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Essentials

// The account, and the people who are blocked.
extension CircleDriver {
    /// The most reasons of a report, and the most bytes of one.
    private static let (reasonLimit, reasonByteLimit) = (16, 128)

    func account() throws -> Account {
        let stored = try store.account()
        return Account(
            identityAssuranceLevel: stored?.identityAssuranceLevel ?? .ial0,
            ageVerificationStatus: stored?.ageVerificationStatus ?? .unverified,
            profile: state.withLock { $0.ownCard?.profile },
            homes: state.withLock { $0.ownCard?.homes ?? [] },
            streams: try streams().sorted { ($0.profile.name, $0.publicID) < ($1.profile.name, $1.publicID) }
        )
    }

    func blockedProfiles() throws -> [BlockedProfile] { try store.blocks() }

    /// Blocks a person: an earlier trust is revoked, and no request is taken until the block is lifted.
    func block(_ person: PublicID, _ reasons: [String: Int]) async throws {
        guard person != ownId else { throw CircleError.ownCard }
        guard reasons.count <= Self.reasonLimit else {
            throw CircleError.tooLong("the list of reasons", limit: Self.reasonLimit, found: reasons.count)
        }
        for (reason, severity) in reasons {
            guard 1...Self.reasonByteLimit ~= reason.utf8.count, 1...5 ~= severity else {
                throw CircleError.malformed(
                    of: "a reason",
                    reason: "it needs 1 to \(Self.reasonByteLimit) bytes and a severity of 1 to 5"
                )
            }
        }
        try await mutex.withLock {
            try store.save(
                BlockedProfile(
                    id: UUID(),
                    blockedPublicID: person,
                    reportTimestamp: Date(timeIntervalSince1970: TimeInterval(milliseconds / 1_000)),
                    reportReasons: reasons
                )
            )
            state.withLock { _ = $0.blocked.insert(person) }
        }
        if state.withLock({ $0.people[person] }) != nil { try await handle(.revoke, of: person) }
    }

    /// Lifts a block: the bans of the person's devices first, so that a crash leaves the block, which is lifted again.
    func unblock(_ person: PublicID) async throws {
        guard state.withLock({ $0.blocked.contains(person) }) else { return }
        if state.withLock({ $0.people[person] }) != nil { try await handle(.unblock, of: person) }
        try await mutex.withLock {
            try store.deleteBlock(of: person)
            state.withLock { _ = $0.blocked.remove(person) }
        }
    }
}
