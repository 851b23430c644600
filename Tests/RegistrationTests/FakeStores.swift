internal import CircleModel
internal import Concurrency
internal import Essentials

@testable internal import Registration

/// An error of a store that refuses.
struct DiskFull: Error {}

/// A circle's account in memory, which makes the default streams with the profile as a circle does.
final class FakeAccounts: AccountStore {
    private struct State: Sendable {
        var profile: Profile?
        var streams: [CircleModel.Stream] = []
        var changes = 0
        var isFull = false
    }

    private let state = Locked(State())
    private let id = UUID(version8: [1])

    /// The number of changes.
    var changes: Int { state.withLock { $0.changes } }

    func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    func removeStreams() { state.withLock { $0.streams = [] } }

    func account() throws -> Account {
        state.withLock { state in
            Account(
                identityAssuranceLevel: .ial0,
                ageVerificationStatus: .unverified,
                profile: state.profile,
                homes: [],
                streams: state.streams
            )
        }
    }

    func setProfile(name: String, blurb: String?, did: String?, handle: String?) async throws {
        try state.withLock { state in
            if state.isFull { throw DiskFull() }
            state.changes += 1
            state.profile = Profile(
                id: id,
                name: name,
                blurb: blurb,
                did: did ?? state.profile?.did,
                handle: handle ?? state.profile?.handle
            )
            state.streams = DefaultStream.allCases.map { stream in
                let person = PublicID(of: id)
                return CircleModel.Stream(
                    id: stream.id(of: person),
                    creatorPublicID: person,
                    profile: Profile(id: stream.id(of: person), name: stream.name),
                    policies: StreamPolicies(posting: stream.posting),
                    isInnerCircle: stream == .innerCircle,
                    sourcePublicID: nil,
                    members: [],
                    participation: .joined,
                    revision: 0
                )
            }
        }
    }
}

/// A stored registration in memory.
final class FakeSnapshots: SnapshotStore {
    private let state = Locked((bytes: [UInt8]?.none, isFull: false))

    var bytes: [UInt8]? { state.withLock { $0.bytes } }

    func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    func load() throws -> [UInt8]? { bytes }

    func save(_ bytes: [UInt8]) throws {
        try state.withLock { state in
            if state.isFull { throw DiskFull() }
            state.bytes = bytes
        }
    }
}
