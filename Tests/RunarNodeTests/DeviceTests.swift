internal import Foundation
internal import Testing

@testable internal import RunarNode

/// A person's device that sets up another one.
@Suite("Devices", .timeLimit(.minutes(15))) struct DeviceTests {
    private let household = Household()

    @Test func `a device that is set up is a member, certified, and connects by itself`() async throws {
        let (laptop, phone) = (try household.makeNode(), try household.makeNode())
        let home = try laptop.createNetwork(name: "Home")
        let cabin = try laptop.createNetwork(name: "Cabin")
        try await laptop.start()
        try await phone.start()
        let request = try phone.deviceRequest()
        #expect(try phone.deviceRequest() == request)
        let answer = try laptop.addDevice(request, networks: [home.networkId, cabin.networkId], label: "phone")
        #expect(answer.networkIds == [home.networkId, cabin.networkId])
        #expect(answer.administeredNetworkIds.isEmpty)
        let events = laptop.eventStream
        try phone.setUp(with: DeviceAnswer(text: answer.text))
        #expect(Set(try phone.networks().map(\.name)) == ["Home", "Cabin"])
        #expect(try phone.networks().allSatisfy { $0.isMember && !$0.isOwner })
        #expect(try laptop.knownPeers().first { $0.peerId == phone.peerId }?.label == "phone")
        for node in [laptop, phone] { #expect(try await node.keychain.getCertificateStatus() == .valid) }
        let shown = try #require(try await laptop.keychain.getCertificateMessage())
        #expect(try await phone.keychain.recognizeDevice(shown) == laptop.peerId)
        for await _ in events where laptop.connectedPeers(in: home.networkId).contains(phone.peerId) { break }
        #expect(throws: NodeError.notTheOwner(home.networkId)) { try phone.revoke(laptop.peerId, in: home.networkId) }
        await phone.stop()
        await laptop.stop()
    }

    @Test func `an administrator admits and revokes as the owner does, in its network alone`() throws {
        let (laptop, tablet, guest) = (try household.makeNode(), try household.makeNode(), try household.makeNode())
        let home = try laptop.createNetwork(name: "Home")
        let cabin = try laptop.createNetwork(name: "Cabin")
        let answer = try laptop.addDevice(tablet.deviceRequest(), networks: [home.networkId], isAdmin: true)
        #expect(answer.administeredNetworkIds == [home.networkId])
        try tablet.setUp(with: answer)
        let info = try #require(try tablet.networks().first)
        #expect(info.isOwner && info.isMember && info.index == nil)
        #expect(try !tablet.hasRootKey())
        let token = try tablet.issueToken(for: guest.peerId, in: home.networkId, expiration: nil)
        try guest.addNetworkToken(networkId: home.networkId, token: token)
        let entry = try tablet.revoke(guest.peerId, in: home.networkId)
        #expect(entry.verify())
        #expect(try tablet.renameNetwork(home.networkId, to: "House").verify())
        #expect(throws: NodeError.notTheOwner(cabin.networkId)) {
            try tablet.issueToken(for: guest.peerId, in: cabin.networkId, expiration: nil)
        }
        #expect(throws: RunarKeychainError.noRootKey) {
            try tablet.addDevice(guest.deviceRequest(), networks: [home.networkId])
        }
        try tablet.leaveNetwork(home.networkId)
        #expect(throws: NodeError.notTheOwner(home.networkId)) { try tablet.renameNetwork(home.networkId, to: "Away") }
        #expect(try tablet.networks().allSatisfy { !$0.isOwner })
    }

    @Test func `an administrator makes no member secret of its own before it hears the network's`() throws {
        let (laptop, tablet) = (try household.makeNode(), try household.makeNode())
        let home = try laptop.createNetwork(name: "Home")
        try tablet.setUp(with: laptop.addDevice(tablet.deviceRequest(), networks: [home.networkId], isAdmin: true))
        #expect(try tablet.memberSecretsOrNew(of: home.networkId) == nil)
        #expect(try laptop.memberSecretsOrNew(of: home.networkId) != nil)
    }

    @Test func `an answer is for one request: not for another device, not for a later request, not twice`() throws {
        let (laptop, phone, other) = (try household.makeNode(), try household.makeNode(), try household.makeNode())
        let home = try laptop.createNetwork(name: "Home")
        let answer = try laptop.addDevice(phone.deviceRequest(), networks: [home.networkId])
        #expect(throws: RunarKeychainError.notAskedFor) { try other.setUp(with: answer) }
        _ = try other.deviceRequest()
        #expect(throws: IdentityError.self) { try other.setUp(with: answer) }
        #expect(try other.networks().isEmpty)
        try phone.setUp(with: answer)
        #expect(throws: RunarKeychainError.notAskedFor) { try phone.setUp(with: answer) }
    }

    @Test func `a device belongs to one person`() throws {
        let (laptop, nonMember, phone) = (try household.makeNode(), try household.makeNode(), try household.makeNode())
        let home = try laptop.createNetwork(name: "Home")
        let trap = try nonMember.createNetwork(name: "Trap")
        try phone.setUp(with: laptop.addDevice(phone.deviceRequest(), networks: [home.networkId]))
        let answer = try nonMember.addDevice(phone.deviceRequest(), networks: [trap.networkId])
        #expect(throws: RunarKeychainError.foreignAuthority) { try phone.setUp(with: answer) }
        #expect(try phone.networks().map(\.networkId) == [home.networkId])
        // Its own networks reveal the owner of a device, too.
        let forNonMember = try laptop.addDevice(nonMember.deviceRequest(), networks: [home.networkId])
        #expect(throws: RunarKeychainError.foreignAuthority) { try nonMember.setUp(with: forNonMember) }
    }

    @Test func `a revoked device is not set up again, and nothing is issued beyond eight networks`() throws {
        let (laptop, phone) = (try household.makeNode(), try household.makeNode())
        let home = try laptop.createNetwork(name: "Home")
        let request = try phone.deviceRequest()
        let answer = try laptop.addDevice(request, networks: [home.networkId])
        let entry = try laptop.revoke(phone.peerId, in: home.networkId)
        #expect(throws: NodeError.badToken(.revoked)) { try laptop.addDevice(request, networks: [home.networkId]) }
        try phone.store.addRevocations([entry])
        #expect(throws: NodeError.badToken(.revoked)) { try phone.setUp(with: answer) }
        #expect(try phone.networks().allSatisfy { !$0.isMember })
        let many = try (0..<9).map { try laptop.createNetwork(name: "N\($0)").networkId }
        let second = try household.makeNode()
        #expect(throws: IdentityError.self) { try laptop.addDevice(second.deviceRequest(), networks: many) }
        #expect(try laptop.knownPeers().allSatisfy { $0.peerId != second.peerId })
    }

    @Test func `a certificate request for another key than the device's is not answered`() throws {
        let (laptop, phone, other) = (try household.makeNode(), try household.makeNode(), try household.makeNode())
        _ = try laptop.createNetwork(name: "Home")
        let mixed = try DeviceRequest(
            for: phone.keychain.peerKey().privateKey,
            certificateRequest: other.deviceRequest().certificateRequest
        )
        let error = #expect(throws: RunarKeychainError.self) { try laptop.addDevice(mixed, networks: []) }
        guard case .badCertificate? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `the node and its keychain count networks together`() async throws {
        let keys = InMemoryKeyStorage()
        let node = try household.makeNode(keys: keys)
        _ = try node.createNetwork(name: "Home")
        let second = try NetworkId(text: await node.keychain.generateNetworkKey())
        #expect(try node.networks().first { $0.networkId == second }?.index == 1)
        let third = try NetworkId(text: await RunarKeychain(keyStorage: keys).generateNetworkKey())
        let fourth = try node.createNetwork(name: "Cabin")
        #expect(try node.networks().first { $0.networkId == fourth.networkId }?.index == 3)
        #expect(Set([second, third, fourth.networkId]).count == 3)
        let guest = try household.makeNode()
        for network in [second, third] {
            // Their keys are stored, though one of them was made outside of the node.
            let holds = try await node.keychain.getNetworkPublicKey(network.text)
            #expect(holds == network.publicKey.base64Encoded)
        }
        #expect(try node.issueToken(for: guest.peerId, in: second, expiration: nil).verify())
        // A new state with the old keys continues from the counter stored with the keys.
        let fresh = try household.makeNode(keys: keys)
        let fifth = try fresh.createNetwork(name: "Boat")
        #expect(try fresh.networks().first { $0.networkId == fifth.networkId }?.index == 4)
    }
}
