internal import Foundation
internal import Testing
internal import Transport

@testable internal import RunarNode

private struct Note: Codable, Equatable, Sendable {
    var text: String
    var number: Int64
}

@Suite("Workflows", .timeLimit(.minutes(15))) struct WorkflowTests {
    @Test func `a message reaches every listener of the peer`() async throws {
        try await Household.run(members: 1) { metadata, owner, members in
            let member = members[0]
            let listeners = [member.startListening(), member.startListening()]
            let connection = try await owner.connectToPeer(
                peerId: member.peerId,
                networkId: metadata.networkId,
                address: member.address
            )
            #expect(connection.peerId == member.peerId)
            let note = Note(text: "hello", number: 42)
            try await owner.sendToPeer(note, peerId: member.peerId)
            for listener in listeners {
                let (peer, data) = try await listener.first { _ in true }
                #expect(peer == owner.peerId)
                #expect(try Bincode.deserialize(Note.self, from: [UInt8](data)) == note)
            }
            #expect(owner.connectedPeers() == [member.peerId])
            #expect(member.connectedPeers(in: metadata.networkId) == [owner.peerId])
        }
    }

    @Test func `a broadcast names each peer that received it and each that did not`() async throws {
        try await Household.run(members: 3) { metadata, owner, members in
            let listeners = members.dropLast().map { $0.startListening() }
            for member in members {
                try await owner.connectToPeer(
                    peerId: member.peerId,
                    networkId: metadata.networkId,
                    address: member.address
                )
            }
            let nonMember = PeerId(publicKey: generatePeerKey().publicKey)
            let everybody = members.map(\.peerId) + [nonMember]
            let error = await failure { try await owner.broadcast("news", peerIds: everybody) }
            let outcome = try #require(error as? BroadcastError)
            #expect(outcome.delivered == members.dropLast().map(\.peerId).sorted())
            #expect(outcome.description.hasPrefix("2 of 4 peers have the message\n"))
            let failures = outcome.failures
            #expect(Set(failures.keys) == [members[2].peerId, nonMember])
            #expect(failures[members[2].peerId] as? NodeError == .noListener(members[2].peerId))
            #expect(failures[nonMember] as? NodeError == .noAddress(nonMember))
            for listener in listeners {
                let (_, data) = try await listener.first { _ in true }
                #expect(try Bincode.deserialize(String.self, from: [UInt8](data)) == "news")
            }
        }
    }

    @Test func `a bad token is refused with its reason and nothing is stored`() throws {
        let household = Household()
        let (owner, node) = (try household.makeNode(), try household.makeNode())
        let (home, other) = (try owner.createNetwork(name: "Home"), try owner.createNetwork(name: "Other"))
        let past = Date(timeIntervalSince1970: 1_600_000_000)
        let expired = try owner.issueToken(for: node.peerId, in: home.networkId, expiration: past)
        let foreign = try owner.issueToken(for: owner.peerId, in: home.networkId, expiration: nil)
        let elsewhere = try owner.issueToken(for: node.peerId, in: other.networkId, expiration: nil)
        let forged = try AccessToken(
            peerId: node.peerId,
            networkId: home.networkId,
            expirationSeconds: nil,
            signature: elsewhere.signatureValue
        )
        let cases: [(AccessToken, TokenProblem)] = [
            (expired, .expired(at: 1_600_000_000)), (foreign, .wrongPeer), (elsewhere, .wrongNetwork),
            (forged, .badSignature),
        ]
        for (token, problem) in cases {
            #expect(throws: NodeError.badToken(problem)) {
                try node.addNetworkToken(networkId: home.networkId, token: token)
            }
        }
        #expect(try node.networks().isEmpty)
    }

    @Test func `a network is created, renamed, shown and left`() throws {
        let owner = try Household().makeNode()
        #expect(try !owner.hasRootKey())
        let metadata = try owner.createNetwork(name: "Home")
        #expect(try owner.hasRootKey())
        #expect(metadata.verify())
        let renamed = try owner.renameNetwork(metadata.networkId, to: "Cabin")
        #expect(renamed.verify() && renamed.version == 2)
        let info = try #require(try owner.networks().first)
        #expect(info.name == "Cabin" && info.version == 2 && info.isOwner && info.isMember && info.expiration == nil)
        #expect(throws: (any Error).self) { try owner.createNetwork(name: "") }
        try owner.leaveNetwork(metadata.networkId)
        #expect(try owner.networks().isEmpty)
        #expect(throws: NodeError.notAMember(metadata.networkId)) { try owner.leaveNetwork(metadata.networkId) }
    }

    @Test func `only the owner issues, revokes and renames`() async throws {
        try await Household.run(members: 1) { metadata, _, members in
            let expected = NodeError.notTheOwner(metadata.networkId)
            #expect(throws: expected) {
                try members[0].issueToken(for: members[0].peerId, in: metadata.networkId, expiration: nil)
            }
            #expect(throws: expected) { try members[0].revoke(members[0].peerId, in: metadata.networkId) }
            #expect(throws: expected) { try members[0].renameNetwork(metadata.networkId, to: "Mine") }
        }
    }

    @Test func `a revoked member is disconnected and gets no further token`() async throws {
        try await Household.run(members: 2) { metadata, owner, members in
            for member in members {
                try await owner.connectToPeer(
                    peerId: member.peerId,
                    networkId: metadata.networkId,
                    address: member.address
                )
            }
            let (lost, kept) = (members[0].eventStream, members[1].eventStream)
            try owner.revoke(members[0].peerId, in: metadata.networkId)
            #expect(owner.connectedPeers() == [members[1].peerId])
            _ = try await lost.first { if case .membershipEnded = $0 { true } else { false } }
            _ = try await kept.first { $0 == .revoked(members[0].peerId, metadata.networkId) }
            #expect(throws: NodeError.badToken(.revoked)) {
                try owner.issueToken(for: members[0].peerId, in: metadata.networkId, expiration: nil)
            }
        }
    }
}
