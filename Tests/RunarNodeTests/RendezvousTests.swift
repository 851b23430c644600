internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import RunarNode

/// The rendezvous key, by which devices find the members of a network.
///
/// It is derived from the owner's secret and included in every text that its devices show.
@Suite("Rendezvous in texts of a node") struct RendezvousTests {
    private let household = Household()

    private func issue(_ owner: RunarNode, for node: RunarNode, in network: NetworkId) throws -> AccessToken {
        try owner.issueToken(for: node.peerId, in: network, expiration: nil)
    }

    @Test func `a network is made with a secret, and its texts and tokens say where its members listen`() throws {
        let (owner, node) = (try household.makeNode(), try household.makeNode())
        let created = try owner.createNetwork(name: "Home")
        let key = try #require(created.rendezvous)
        let token = try issue(owner, for: node, in: created.networkId)
        #expect(token.rendezvous == key)
        #expect(try AccessToken.fromQRString(token.qrString).rendezvous == key)
        #expect(try owner.networks().first?.metadata?.rendezvous == key)
        #expect(try owner.renameNetwork(created.networkId, to: "Cabin").rendezvous == key)
        #expect(try owner.createNetwork(name: "Other").rendezvous != key)
    }

    @Test func `it survives a restart`() throws {
        let folder = try TemporaryDirectory()
        let keys = InMemoryKeyStorage()
        let path = folder.file("state.sqlite")
        let created = try household.makeNode(keys: keys, statePath: path).createNetwork(name: "Home")
        let owner = try household.makeNode(keys: keys, statePath: path)
        #expect(try owner.networks().first?.metadata?.rendezvous == created.rendezvous)
        let secrets = try #require(try owner.memberSecrets(of: created.networkId))
        #expect(secrets.newest.verify())
        #expect(secrets.newest.rendezvous.publicKey == created.rendezvous)
    }

    @Test func `a device learns it from either text and passes it on`() async throws {
        let owner = try household.makeNode()
        let created = try owner.createNetwork(name: "Home")
        for isByToken in [true, false] {
            let node = try household.makeNode()
            let token = try issue(owner, for: node, in: created.networkId)
            try await node.joinNetwork(
                networkId: created.networkId,
                accessToken: token.with(rendezvous: isByToken ? token.rendezvous : nil)
            )
            try node.addNetwork(created.with(rendezvous: isByToken ? nil : created.rendezvous))
            #expect(try node.networks().first?.metadata?.rendezvous == created.rendezvous)
            #expect(try node.memberSecrets(of: created.networkId) == nil)
        }
    }

    @Test func `an old text does not overrule a secret`() throws {
        let owner = try household.makeNode()
        let created = try owner.createNetwork(name: "Home")
        let other = try owner.createNetwork(name: "Other")
        try owner.addNetwork(created.with(rendezvous: other.rendezvous))
        let known = try owner.networks().first { $0.networkId == created.networkId }
        #expect(known?.metadata?.rendezvous == created.rendezvous)
    }

    @Test func `who leaves forgets the secret`() throws {
        let keys = InMemoryKeyStorage()
        let owner = try household.makeNode(keys: keys)
        let created = try owner.createNetwork(name: "Home")
        #expect(try keys.list().contains { $0.hasPrefix("member-secrets/") })
        try owner.leaveNetwork(created.networkId)
        #expect(try owner.memberSecrets(of: created.networkId) == nil)
        #expect(try !keys.list().contains { $0.hasPrefix("member-secrets/") })
    }
}
