internal import Identity
internal import Testing

@testable internal import NodeService

@Suite("Who is connected") struct PeersReportTests {
    @Test func `a relayed peer is listed with its relay`() throws {
        let ids = [Ed25519KeyPair(), Ed25519KeyPair()].map { PeerId(publicKey: $0.publicKey) }
        func line(_ peer: PeersReport.Peer) -> String {
            PeersReport(isRunning: true, isAll: false, peers: [peer]).lines.joined()
        }
        func peer(relay: PeerId?, isRelayed: Bool) -> PeersReport.Peer {
            PeersReport.Peer(
                peerId: ids[0].base64Encoded,
                peerIdText: ids[0].text,
                networks: [],
                networkNames: ["Home"],
                label: "phone",
                isConnected: true,
                isRelayed: isRelayed,
                address: nil,
                relay: relay?.base64Encoded,
                foundBy: [],
                lastSeen: nil,
                roundTripMicroseconds: nil
            )
        }
        let (id, other) = (ids[0].text, ids[1].text)
        #expect(line(peer(relay: nil, isRelayed: false)) == "\(id)  Home  phone")
        #expect(line(peer(relay: ids[1], isRelayed: true)) == "\(id)  Home  connected over \(other)  phone")
        #expect(line(peer(relay: nil, isRelayed: true)) == "\(id)  Home  connected over another member  phone")
    }
}
