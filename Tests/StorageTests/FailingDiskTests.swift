internal import Essentials
internal import GRDB
internal import Identity
internal import Platform
internal import SlotStore
internal import TestSupport
internal import Testing

@testable internal import CircleModel
@testable internal import CircleStore
@testable internal import Database
@testable internal import NodeStore

/// Writes of a store on a disk that is full, fails, or loses power.
@Suite("A state store on a failing disk", .timeLimit(.minutes(15))) struct FailingDiskTests {
    /// A part of the state that one method writes.
    enum Part: CaseIterable, Sendable {
        case slot, ban, network, issuedToken, revocation, admission, record, outgoingMail
        case account, block, person, stream, thought, receivedMail, owedLetter

        /// The table that the part fills.
        var table: String {
            switch self {
            case .slot: "slots"
            case .ban: "banned_peers"
            case .network: "networks"
            case .issuedToken: "issued_tokens"
            case .revocation: "revocations"
            case .admission: "addresses"
            case .record: "records"
            case .outgoingMail: "mail"
            case .account: "accounts"
            case .block: "blocked_profiles"
            case .person: "people"
            case .stream: "streams"
            case .thought: "thoughts"
            case .receivedMail: "received_mail"
            case .owedLetter: "owed_letters"
            }
        }
    }

    private static let id = [UInt8](repeating: 7, count: 32)
    private static let short = [UInt8](repeating: 7, count: 16)

    private static func stream() throws -> CircleModel.Stream {
        let id = try #require(UUID(bytes: short))
        return CircleModel.Stream(
            id: id,
            creatorPublicID: PublicID(of: id),
            profile: Profile(id: id, name: "Ann"),
            policies: StreamPolicies(),
            isInnerCircle: false,
            sourcePublicID: nil,
            members: [],
            participation: .joined,
            revision: 1
        )
    }

    private static func thought(in stream: CircleModel.Stream) throws -> StoredThought {
        let model = try ThoughtServiceModel(
            creatorPublicID: stream.creatorPublicID,
            streamPublicID: stream.publicID,
            mediaType: .say,
            createdAtMilliseconds: 1,
            content: []
        )
        return StoredThought(model, in: stream.id, nano: [UInt8](repeating: 1, count: 9_000))
    }

    private static func write(_ part: Part, to store: NodeStore) throws {
        let (network, peer) = (try network(1), try peer(1))
        let circle = try CircleStore(store)
        switch part {
        case .slot: try store.setSlot("setting", to: [UInt8](repeating: 1, count: 20_000))
        case .ban: try store.setBan(true, of: [peer])
        case .network: try store.save(NetworkRecord(networkId: network, role: .member, metadata: "", joinedAt: 1))
        case .issuedToken:
            // A token belongs to a network.
            try store.save(NetworkRecord(networkId: network, role: .owner, metadata: "", joinedAt: 1))
            try store.save(IssuedToken(networkId: network, peerId: peer, expiration: nil, issuedAt: 1))
        case .revocation:
            _ = try store.merge([StoredRevocation(networkId: network, peerId: peer, entry: id)])
        case .admission: try store.noteAdmission(of: peer, in: network, address: address(1), at: 1)
        case .record:
            let place = peer.words
            try store.keep([StoredRecord(networkId: network, location: place, writer: peer, record: id)])
        case .outgoingMail:
            let mail = StoredMail(
                folder: .outgoing,
                networkId: network,
                mailId: short,
                mailbox: id,
                peerId: peer,
                expiration: 9,
                byteCount: 5_000
            )
            _ = try store.addOutgoingMail(mail, body: [UInt8](repeating: 1, count: 5_000), limit: 9)
        case .account: try circle.save(StoredAccount())
        case .block:
            let (id, date) = (UUID(), Date(timeIntervalSince1970: 1))
            let blocked = PublicID(of: id)
            try circle.save(
                BlockedProfile(id: id, blockedPublicID: blocked, reportTimestamp: date, reportReasons: [:])
            )
        case .person:
            let profile = try Self.stream().profile
            try circle.save(
                StoredPerson(publicID: profile.publicID, key: id, card: nil, trust: .none, changedAt: 1),
                profile
            )
        case .stream, .thought:
            // A stream belongs to an account.
            try circle.save(StoredAccount())
            let stream = try Self.stream()
            try circle.save(stream)
            if part == .thought { try circle.add(Self.thought(in: stream), []) }
        case .receivedMail: _ = try circle.noteReceived(short, expiration: 1)
        case .owedLetter: try circle.owe([StoredOwedLetter(.card)], to: [peer])
        }
    }

    private static func rows(of table: String, in store: NodeStore) throws -> Int {
        try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }

    /// A directory with a store that has one setting.
    private func makeTemplate() throws -> TemporaryDirectory {
        let template = try TemporaryDirectory()
        let store = try NodeStore(path: template.file("state.sqlite"))
        try store.setSlot("before", to: [1])
        _ = try CircleStore(store)
        try store.database.close()
        return template
    }

    @Test func `every part is there or not, as it was acknowledged, at every point of a failing disk`() async throws {
        let template = try makeTemplate()
        var points = 0
        for part in Part.allCases {
            let walk = FailingDiskWalk(
                open: { try NodeStore(path: $0.file("state.sqlite")) },
                write: { store in
                    do {
                        try Self.write(part, to: store)
                        #expect(store.database.writeFailure == nil)
                        return true
                    } catch {
                        #expect(store.database.writeFailure != nil, "\(part): \(error)")
                        return false
                    }
                },
                close: { store in try? store.database.close() },  // the power may be lost
                check: { directory, isAcknowledged, fault in
                    let store = try NodeStore(path: directory.file("state.sqlite"))
                    #expect(try store.slot("before") == [1], "\(part), \(fault)")
                    if isAcknowledged { #expect(try Self.rows(of: part.table, in: store) > 0, "\(part), \(fault)") }
                    try store.database.close()
                }
            )
            let count = try await walk.run(in: template)
            #expect(count >= 3, "\(part)")
            points += count
        }
        print("\(Part.allCases.count) parts of the state, \(points) points")
    }

    @Test func `a store notices that the disk takes writes again`() throws {
        let template = try makeTemplate()
        let disk = try FailingDisk(of: template)
        let store = try NodeStore(path: template.file("state.sqlite"))
        #expect(store.database.checkWriting() == nil)
        disk.arm(.full(afterBytes: 0))
        #expect(throws: StorageError.full(path: store.database.path)) {
            try store.setSlot("long", to: [UInt8](repeating: 1, count: 20_000))
        }
        #expect(store.database.writeFailure == .full(path: store.database.path))
        #expect(store.database.checkWriting() == .full(path: store.database.path))
        disk.heal()
        #expect(store.database.checkWriting() == nil && store.database.writeFailure == nil)
        #expect(try store.slot("long") == nil)
        try store.database.close()
    }

    @Test func `a store that is made on a failing disk is made later`() throws {
        for point in 0... {
            let directory = try TemporaryDirectory()
            let disk = try FailingDisk(of: directory)
            disk.arm(.powerLoss(after: point, .none))
            let path = directory.file("state.sqlite")
            let isMade = (try? NodeStore(path: path).database.close()) != nil  // power loss
            let hasFailed = disk.hasFailed
            try disk.restore(FailingDisk.Survivors.allCases[point % 3])
            let store = try NodeStore(path: path)
            try store.setSlot("a", to: [1])
            try store.database.close()
            guard hasFailed else {
                #expect(isMade && point >= 5)
                return
            }
        }
    }
}
