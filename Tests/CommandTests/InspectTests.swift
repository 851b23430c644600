internal import Certificates
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

@Suite("runar inspect", .aside) struct InspectTests {
    private let root = Ed25519KeyPair()
    private let peer = PeerId(publicKey: Ed25519KeyPair().publicKey)

    private func inspect(_ text: String) throws -> Outcome { try runar(["inspect", "--json", "-"], input: text) }

    private func expect(_ text: String, is kind: String, _ fields: [String: String] = [:]) throws {
        let outcome = try inspect(text)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(try outcome.text("kind") == kind)
        #expect(try outcome.json["valid"] as? Bool == true)
        #expect(try outcome.json["problem"] is NSNull)
        for (name, value) in fields { #expect(try outcome.text(name) == value) }
    }

    @Test func `every kind is recognised with its fields`() throws {
        let network = NetworkId(publicKey: root.publicKey)
        let token = try AccessToken.create(
            peerId: peer,
            networkId: network,
            networkPrivateKey: root.privateKey,
            expiration: nil
        )
        try expect(token.qrString, is: "token", ["peer_id": peer.base64Encoded, "network_id": network.base64Encoded])
        var metadata = NetworkMetadata(networkId: network, name: "Home", adminPublicKey: root.publicKey)
        try metadata.sign(with: root.privateKey)
        try expect(try metadata.qrString, is: "network", ["name": "Home"])
        let data = PeerConnectionData(peerId: peer, networkId: network, address: "192.0.2.1:4433", token: token)
        try expect(data.qrString, is: "peer", ["address": "192.0.2.1:4433"])
        try expect(peer.text, is: "identifier", ["base64": peer.base64Encoded])
        try expect(peer.base64Encoded, is: "identifier", ["text": peer.text])
        var set = RevocationSet(networkId: network)
        try set.insert(
            try Revocation.create(peerId: peer, networkId: network, networkPrivateKey: root.privateKey)
        )
        try expect(set.text, is: "revocations", ["network_id": network.base64Encoded])
        let certificate = try NodeCertificate.selfSigned(for: root.privateKey)
        try expect(
            CertificateText.encode(certificate.certificateDER),
            is: "certificate",
            ["peer_id": PeerId(publicKey: root.publicKey).base64Encoded]
        )
    }

    @Test func `what is genuine but does not count says why`() throws {
        let network = NetworkId(publicKey: root.publicKey)
        let expired = try AccessToken.create(
            peerId: peer,
            networkId: network,
            networkPrivateKey: root.privateKey,
            expiration: Date(timeIntervalSince1970: 1_000_000)
        )
        let outcome = try inspect(expired.qrString)
        #expect(outcome.status == 0)
        #expect(try outcome.json["valid"] as? Bool == false)
        #expect(try outcome.text("problem").contains("expired"))
        let other = NetworkId(publicKey: Ed25519KeyPair().publicKey)
        let forged = expired.qrString.replacingOccurrences(of: network.base64Encoded, with: other.base64Encoded)
        #expect(try inspect(forged).json["valid"] as? Bool == false)
    }

    @Test(arguments: [
        "", "hello", "{}", "{\"type\":\"token\"}", "{\"type\":\"other\"}", "runar://join/abc", "runar://revocations/!!",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----", "{\"type\":",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "\u{1B}[31m",
    ])
    func `malformed input ends with 65 and says so in one object`(text: String) throws {
        let outcome = try inspect(text)
        #expect(outcome.status == 65)
        #expect(try outcome.text("kind") == "unknown")
        #expect(try outcome.json["valid"] as? Bool == false)
        #expect(try !outcome.text("problem").isEmpty)
        #expect(try outcome.failure["exitCode"] as? Int == 65)
    }

    @Test func `a file that is not there ends with 66`() throws {
        let outcome = try runar(["inspect", "/nonexistent/file", "--json"])
        #expect(outcome.status == 66)
        #expect(try outcome.failure["code"] as? String == "no-file")
    }

    @Test func `names of others cannot steer the terminal`() throws {
        let report = InspectionReport(kind: "network", problem: nil, fields: [.init("name", .text("a\u{1B}[2Jb"))])
        #expect(report.lines.contains { $0.contains("\u{1B}") })
        let certificate = "-----BEGIN \u{1B}[2J"
        #expect(try !runar(["inspect"], input: certificate).errors.contains("\u{1B}"))
    }
}
