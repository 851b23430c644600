internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import NodeStore

/// States of homes that releases wrote, opened by this version.
@Suite("Golden states", .aside) struct GoldenStateTests {
    /// The numbers of rows that are not 0, by the id of a network of the state.
    private func counts(in store: NodeStore, _ count: (NetworkId) throws -> Int) throws -> [String: Int] {
        let networks = try store.networks(includingLeft: true).map(\.networkId)
        let counts = try networks.map { ($0.base64Encoded, try count($0)) }
        return Dictionary(uniqueKeysWithValues: counts.filter { $0.1 > 0 })
    }

    @Test(arguments: try GoldenHome.all()) func `a state of a release keeps its rows`(golden: GoldenHome) throws {
        let folder = try TemporaryDirectory()
        try golden.unpack(to: folder.file("home"))
        let store = try NodeStore(path: folder.file("home/state.sqlite"))
        let expected = golden.stored
        #expect(try counts(in: store) { try store.records(of: $0).count } == expected.values)
        #expect(try counts(in: store) { try store.mails(in: .outgoing, of: $0).count } == expected.outgoingMail)
        #expect(try counts(in: store) { try store.mails(in: .held, of: $0).count } == expected.heldMail)
        #expect(try counts(in: store) { try store.revocations(of: $0).count } == expected.revocations)
        #expect(try counts(in: store) { try store.issuedTokens(of: $0).count } == expected.issuedTokens)
        #expect(try store.bannedPeers().count == expected.bannedPeers)
        try store.database.close()
    }

    @Test func `the states of a release have mail, values and revocations`() throws {
        let states = try GoldenHome.all().map(\.stored)
        let kinds = [\GoldenHome.Stored.values, \.outgoingMail, \.heldMail, \.revocations, \.issuedTokens]
        for kind in kinds { #expect(states.contains { !$0[keyPath: kind].isEmpty }, "\(kind)") }
        #expect(states.contains { $0.bannedPeers > 0 })
    }
}
