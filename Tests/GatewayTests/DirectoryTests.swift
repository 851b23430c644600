internal import CommandModel
internal import ExitModel
internal import Identity
internal import TestSupport
internal import Testing
internal import WebClient

@testable internal import Gateway

@Suite("The exit directory") struct DirectoryTests {
    private let operatorKey = Ed25519PrivateKey()
    private let scenes: [GatewayScene]
    private let folder: TemporaryDirectory

    init() throws {
        scenes = [try GatewayScene(), try GatewayScene([.locationId: ["ch-1"], .country: ["CH"]])]
        folder = try TemporaryDirectory()
    }

    private var now: UInt64 { scenes[0].now }

    private func polls() throws -> DirectoryPolls {
        let roster = try GatewayScene.roster(scenes.map(\.signing.publicKey), at: now)
        return try DirectoryPolls(SignedDocument(roster, by: operatorKey))
    }

    private func description(_ number: Int, at time: UInt64) throws -> SignedDocument<GatewayDescription> {
        let scene = scenes[number]
        let certificate = try GatewayScene.certificate(scene, in: folder)
        try scene.describer.renew(certificate, load: 0, isDraining: false, at: time)
        return try SignedDocument(json: try #require(scene.describer.json))
    }

    @Test func `a gateway that is silent for 90 seconds is left out`() throws {
        var polls = try polls()
        try polls.record(try description(0, at: now), at: now)
        try polls.record(try description(1, at: now + 60), at: now + 60)
        let at90 = try polls.directory(at: now + 90).verified(by: operatorKey.publicKey, at: now + 90)
        #expect(at90.gateways.map(\.location.id) == ["ch-1", "us-east-1"])
        let at91 = try polls.directory(at: now + 91).verified(by: operatorKey.publicKey, at: now + 91)
        #expect(at91.gateways.map(\.location.id) == ["ch-1"] && at91.refused.isEmpty)
    }

    @Test func `the list has equal bytes in any order of the polls`() throws {
        var (first, second) = (try polls(), try polls())
        second.issuerDirectory = [1]
        first.issuerDirectory = [1]
        let documents = [try description(0, at: now), try description(1, at: now)]
        for document in documents { try first.record(document, at: now) }
        for document in documents.reversed() { try second.record(document, at: now) }
        #expect(try first.directory(at: now).gateways == second.directory(at: now).gateways)
        #expect(try first.directory(at: now).issuerDirectory == second.directory(at: now).issuerDirectory)
    }

    @Test func `a gateway that the roster does not list is refused, and leaves with a new roster`() throws {
        var polls = try polls()
        try polls.record(try description(0, at: now), at: now)
        let other = try GatewayScene.roster([scenes[1].signing.publicKey], at: now)
        try polls.replace(SignedDocument(other, by: operatorKey))
        #expect(try polls.directory(at: now).gateways.isEmpty)
        #expect(throws: ExitModelError.unlistedGateway) { try polls.record(description(0, at: now), at: now) }
    }

    @Test func `the operator signs a roster with a key that is made once`() throws {
        var order = RosterOrder(
            keyPath: folder.file("operator.key"),
            exitName: GatewayScene.exit,
            issuer: "https://\(GatewayScene.issuer)/",
            gateways: [scenes[0].signing.publicKey.base64Encoded],
            rosterPath: folder.file("roster.json")
        )
        let report = try order.sign(at: now)
        order.days = 1
        #expect(try order.sign(at: now).operatorKey == report.operatorKey)
        let key = try Ed25519PublicKey(base64Encoded: report.operatorKey)
        let roster = try SignedDocument<ExitRoster>(json: folder.bytes("roster.json")).roster(of: key, at: now)
        #expect(roster.gateways == [scenes[0].signing.publicKey] && roster.expires == now + 86_400)
        #expect(roster.issuerName == GatewayScene.issuer && roster.issuerURL.text == "https://\(GatewayScene.issuer)")
        order.days = 826
        #expect(throws: CommandFailure.self) { try order.sign(at: now) }
        order.days = 90
        order.issuer = "http://issuer.example.org"
        #expect(throws: WebClientError.notEncrypted(host: "issuer.example.org")) { try order.sign(at: now) }
        order.issuer = "https://issuer.example.org"
        order.rosterPath = folder.file("missing/roster.json")
        #expect(throws: CommandFailure.self) { try order.sign(at: now) }
    }
}
