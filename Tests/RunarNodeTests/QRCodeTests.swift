internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import RunarNode

/// The codes by which people hand things over.
@Suite("QR codes of a node") struct QRCodeTests {
    private let household = Household()
    private let generator = QRCodeGenerator()
    /// Which every camera reads from a screen.
    private static let largestVersion = 15

    /// Names of 64 bytes, the longest possible, and of 63: characters of one kind, some of which double when they are
    /// escaped, and mixtures that result in any length of the text, with and without a character that makes it UTF-8.
    private static let names =
        ["\"", "a", "é", "😀", "\\", "0"].map { String(repeating: $0, count: 64 / $0.utf8.count) }
        + ["é", "aa"].flatMap { first in
            (61...62).flatMap { count in
                (count - 40...count).map { quotes in
                    first + String(repeating: "\"", count: quotes) + String(repeating: "a", count: count - quotes)
                }
            }
        }

    /// The longest payload of each kind, with its symbol and expected text.
    private func payloads() throws -> [(symbol: QRSymbol, text: String)] {
        let (owner, node) = (try household.makeNode(), try household.makeNode())
        let created = try owner.createNetwork(name: "Home")
        let token = try owner.issueToken(
            for: node.peerId,
            in: created.networkId,
            expiration: Date(timeIntervalSince1970: 253_402_300_799)
        )
        let addresses = try (1...8).map {
            try SocketAddress(parsing: "[2001:db8:1111:2222:3333:4444:5555:666\($0)]:65535")
        }
        let connection = PeerConnectionData(
            peerId: node.peerId,
            networkId: created.networkId,
            address: addresses[0],
            token: token
        )
        let invitation = Invitation(
            inviter: owner.peerId,
            networkId: created.networkId,
            addresses: addresses,
            nowSeconds: 1_800_000_000
        )
        #expect(token.rendezvous != nil && created.rendezvous != nil && invitation.addresses.count == 8)
        return [
            (try generator.generateTokenQR(from: token), token.qrString),
            (try generator.generatePeerIdQR(from: node.peerId), node.peerId.base64Encoded),
            (try generator.generateConnectionQR(from: connection), connection.qrString),
            (try generator.generateInvitationQR(from: invitation), invitation.qrString),
        ]
    }

    @Test func `tokens, ids, connections and invitations are at most version 15 at level M`() throws {
        for (symbol, text) in try payloads() {
            #expect(symbol.level == .m && symbol.version.number <= Self.largestVersion, "\(text)")
            #expect(try generator.generateQRCode(from: text) == symbol)
        }
    }

    @Test func `networks of the longest names are too, however their characters are written`()
        async throws
    {
        let rendezvous = try household.makeNode().createNetwork(name: "Home").rendezvous
        let key = Ed25519KeyPair()
        for name in Self.names {
            // This computes for long, and concurrent tests have deadlines.
            await Task.yield()
            var metadata = NetworkMetadata(
                networkId: NetworkId(publicKey: key.publicKey),
                name: name,
                adminPublicKey: key.publicKey
            )
            try metadata.sign(with: key.privateKey)
            metadata = metadata.with(rendezvous: rendezvous)
            let symbol = try generator.generateNetworkQR(from: metadata)
            #expect(symbol.version.number <= Self.largestVersion, "\(name)")
            #expect(try symbol == generator.generateQRCode(from: metadata.qrString))
        }
    }

    @Test func `a network that is not signed has no code`() throws {
        let created = try household.makeNode().createNetwork(name: "Home")
        let unsigned = NetworkMetadata(
            networkId: created.networkId,
            name: created.name,
            adminPublicKey: created.adminPublicKey
        )
        #expect(throws: IdentityError.self) { try generator.generateNetworkQR(from: unsigned) }
    }

    @Test func `a generator keeps to its level`() throws {
        for level in ErrorCorrectionLevel.allCases {
            #expect(try QRCodeGenerator(level: level).generateQRCode(from: "runar").level == level)
        }
        #expect(throws: QRCodeError.self) { try generator.generateQRCode(from: String(repeating: "x", count: 3000)) }
    }

    @Test(.enabled(if: IndependentReaders.missing.isEmpty, "zbar or zxing-cpp is missing"))
    func `independent readers get what is parsed again`() throws {
        let owner = try household.makeNode()
        let networks = try ["Home", Self.names[0], Self.names[2]].map { name in
            let created = try owner.createNetwork(name: name)
            return (symbol: try generator.generateNetworkQR(from: created), text: try created.qrString)
        }
        let drawn = networks + (try payloads())
        let readings = try IndependentReaders.read(drawn.map { .png($0.symbol.png(modulePixels: 4)) })
        for ((_, text), reading) in zip(drawn, readings) {
            #expect(reading.agrees(on: Array(text.utf8)), "\(text): \(reading)")
            let read = try #require(reading.zxing.first?.text)
            #expect(read == text)
            _ = try Artefact.parse(read)
        }
    }
}
