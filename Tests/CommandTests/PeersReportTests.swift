internal import Identity
internal import Testing

@testable internal import NodeService

@Suite("Who is connected") struct PeersReportTests {
    @Test func `a relayed peer is listed with its relay`() throws {
        let ids = [Ed25519KeyPair(), Ed25519KeyPair()].map { PeerId(publicKey: $0.publicKey) }
        func line(_ peer: PeersReport.Peer) -> String {
            PeersReport(running: true, all: false, peers: [peer]).lines.joined()
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
        #expect(line(peer(relay: nil, relayed: false)) == "\(id)  Home  phone")
        #expect(line(peer(relay: ids[1], relayed: true)) == "\(id)  Home  connected over \(other)  phone")
        #expect(line(peer(relay: nil, relayed: true)) == "\(id)  Home  connected over another member  phone")
    }
}
