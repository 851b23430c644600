internal import Identity
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService

@Suite("Who is connected") struct PeersReportTests {
    @Test func `a relayed peer is listed with its relay`() throws {
        let ids = [Ed25519KeyPair(), Ed25519KeyPair()].map { PeerId(publicKey: $0.publicKey) }
        func line(_ peer: PeersReport.Peer) -> String {
            PeersReport(running: true, all: false, membership: .member, peers: [peer]).lines.last ?? ""
        }
        func peer(relay: PeerId?, relayed: Bool) -> PeersReport.Peer {
            PeersReport.Peer(
                peerId: ids[0].base64Encoded,
                peerIdText: ids[0].text,
                networks: [],
                networkNames: ["Home"],
                label: "phone",
                connected: true,
                relayed: relayed,
                address: nil,
                relay: relay?.base64Encoded,
                foundBy: [],
                lastSeen: nil,
                roundTripMicroseconds: nil
            )
        }
        let (id, other) = (ids[0].text, ids[1].text)
        #expect(line(peer(relay: nil, relayed: false)) == "phone  Home      connected  -           -         \(id)")
        #expect(line(peer(relay: ids[1], relayed: true)).contains("connected over \(other)  "))
        #expect(line(peer(relay: nil, relayed: true)).contains("connected over another member  "))
    }

    @Test(arguments: [
        (PeersReport.Membership.none, "runar join"), (.revoked, "runar keys renew-device"), (.member, "runar connect"),
    ])
    func `an empty list names the step that fits the device`(membership: PeersReport.Membership, advice: String) {
        let lines = PeersReport(running: true, all: false, membership: membership, peers: []).lines
        #expect(lines.count == 1 && lines[0].contains(advice), "\(lines)")
    }
}
