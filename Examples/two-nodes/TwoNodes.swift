import RunarNode

/// Two devices of one person: the first owns a network and offers a service, the second joins, sends a request and a
/// message.
@main
struct TwoNodes {
    static func main() async throws {
        let laptop = try RunarNode(config: .createTestConfig())
        let phone = try RunarNode(config: .createTestConfig())
        try await laptop.start()
        try await phone.start()

        // The laptop makes the network and signs a token for the phone; the texts of both fit a QR code.
        let network = try laptop.createNetwork(name: "Home")
        let token = try laptop.issueToken(for: phone.peerId, in: network.networkId, expiration: nil)
        try await phone.joinNetwork(networkId: network.networkId, accessToken: .fromQRString(token.qrString))

        // The service that the laptop offers, to members of the network only.
        let home = network.networkId.base64Encoded
        let math = RunarService(name: "Math", path: "math", version: "1.0.0", description: "adds numbers")
        math.networkId = home
        math.registerAction("add") { (numbers: [Double]?) async throws -> Double in (numbers ?? []).reduce(0, +) }
        try await laptop.addService(math)

        // The phone dials; both prove their membership before a byte of the application goes over the wire.
        let messages = laptop.startListening()
        let address = "127.0.0.1:\(laptop.listeningPort)"
        try await phone.connectToPeer(peerId: laptop.peerId, networkId: network.networkId, address: address)
        let sum: Double = try await phone.request("\(home):math/add", payload: [5.0, 3.0])
        print("5 and 3 are \(sum), says the laptop")
        try await phone.sendToPeer("hello from the phone", peerId: laptop.peerId)

        for await (peer, bytes) in messages {
            let text = try Bincode.deserialize(String.self, from: [UInt8](bytes))
            print("\(peer.short) says: \(text)")
            break
        }
        await phone.stop()
        await laptop.stop()
    }
}
