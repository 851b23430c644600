internal import Bytes
internal import ExitModel
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

@Suite("Signed documents of the exit") struct DocumentTests {
    private let vectors: ExitVectors

    init() throws { vectors = try ExitVectors.load() }

    @Test(arguments: ["first", "second"])
    func `a description has the bytes that another program writes`(_ name: String) throws {
        let description = try vectors.description(name)
        let key = try vectors.gatewayKeys[name == "first" ? 0 : 1]
        let document = try SignedDocument(description, by: key)
        #expect(String(decoding: document.payload, as: UTF8.self) == (try vectors.document(name).payload))
        #expect(try document.content(by: key.publicKey) == description)
    }

    @Test func `a description has the fields of its vector`() throws {
        let description = try vectors.description("second")
        #expect(description.location.id == "ch-1" && description.location.name == "Zürich")
        #expect(description.location.countryCode == "CH" && description.location.load == 0)
        #expect(description.location.premium && description.isDraining)
        #expect(description.place == (try GatewayPlace(city: "Zürich", latitude: 47.3769, longitude: 8.5417)))
        #expect(description.redemptionURL.text == "https://ch-1.exit.example.org:8443")
        #expect(description.time == vectors.now - 30)
        #expect(description.certificate == Array(0..<100))
        #expect(description.certificatePEM?.split(separator: "\n").count == 5)
    }

    @Test func `a roster has the bytes that another program writes`() throws {
        let roster = try vectors.roster()
        #expect(roster.exit.text == "exit.example.org" && roster.issuerName == "issuer.example.org")
        #expect(roster.gateways == (try vectors.gatewayKeys.map(\.publicKey)))
        let document = try SignedDocument(roster, by: vectors.operatorKey)
        #expect(String(decoding: document.payload, as: UTF8.self) == (try vectors.document("roster").payload))
    }

    @Test func `a directory has the bytes that another program writes`() throws {
        let directory = try ExitDirectory(json: Array(vectors.directory.utf8))
        #expect(String(decoding: directory.json, as: UTF8.self) == vectors.directory)
        let exit = try directory.verified(by: vectors.operatorKey.publicKey, at: vectors.now)
        #expect(exit.gateways.map(\.location.id) == ["ch-1", "us-east-1"])
        #expect(exit.refused.isEmpty)
        #expect(exit.issuerDirectory == Array(#"{"token-keys":[]}"#.utf8))
    }

    @Test func `a directory has equal bytes in every order of its descriptions`() throws {
        let directory = try ExitDirectory(json: Array(vectors.directory.utf8))
        let reversed = try ExitDirectory(
            roster: directory.roster,
            gateways: directory.gateways.reversed(),
            issuerDirectory: directory.issuerDirectory
        )
        #expect(reversed.json == directory.json)
    }

    @Test func `a changed payload is refused`() throws {
        let json = try vectors.document("roster").json
        let document = try SignedDocument<ExitRoster>(json: Array(json.utf8))
        let signature = Base64URL.encode(document.signature.bytes)
        var payload = document.payload
        payload[payload.count / 2] ^= 1
        let changed = #"{"payload":"\#(Base64URL.encode(payload))","signature":"\#(signature)"}"#
        let key = try vectors.operatorKey.publicKey
        #expect(throws: ExitModelError.badSignature(of: ExitRoster.subject)) {
            try SignedDocument<ExitRoster>(json: Array(changed.utf8)).content(by: key)
        }
    }

    @Test func `a roster by another key is refused`() throws {
        let document = try SignedDocument<ExitRoster>(json: Array(vectors.document("roster").json.utf8))
        let key = try vectors.gatewayKeys[0].publicKey
        #expect(throws: ExitModelError.badSignature(of: ExitRoster.subject)) {
            try document.roster(of: key, at: vectors.now)
        }
    }

    @Test func `the signature of a description is not one of a roster`() throws {
        let roster = try vectors.roster()
        let description = try vectors.description("first")
        let key = try vectors.gatewayKeys[0]
        let signed = try SignedDocument(description, by: key)
        #expect(!key.publicKey.isValidSignature(signed.signature.bytes, for: signed.payload))
        #expect(!key.publicKey.isValidSignature(signed.signature.bytes, for: ExitRoster.label.message(signed.payload)))
        #expect(roster.gateways.contains(description.gateway))
    }

    // MARK: Times

    @Test func `a description is good for 90 seconds`() throws {
        let description = try vectors.description("first")
        try description.checkTime(at: description.time + 90)
        #expect(throws: ExitModelError.stale(ageSeconds: 91, limitSeconds: 90)) {
            try description.checkTime(at: description.time + 91)
        }
    }

    @Test func `a description may be 60 seconds in the future`() throws {
        let description = try vectors.description("first")
        try description.checkTime(at: description.time - 60)
        let future = ExitModelError.fromTheFuture(of: GatewayDescription.subject, aheadSeconds: 61)
        #expect(throws: future) { try description.checkTime(at: description.time - 61) }
    }

    @Test func `a roster is refused from the second of its expiry`() throws {
        let roster = try vectors.roster()
        try roster.checkTimes(at: roster.expires - 1)
        #expect(throws: ExitModelError.rosterExpired(at: roster.expires)) { try roster.checkTimes(at: roster.expires) }
        #expect(throws: ExitModelError.fromTheFuture(of: ExitRoster.subject, aheadSeconds: 61)) {
            try roster.checkTimes(at: roster.issued - 61)
        }
    }

    // MARK: Gateways

    @Test func `a description by a key that the roster does not list is refused`() throws {
        let other = Ed25519PrivateKey()
        let description = try vectors.description("first").with(gateway: other.publicKey)
        let document = try SignedDocument(description, by: other)
        #expect(throws: ExitModelError.unlistedGateway) {
            try document.description(listedIn: vectors.roster(), at: vectors.now)
        }
    }

    @Test func `a description that names a listed key and is signed by another is refused`() throws {
        let description = try vectors.description("first")
        let document = try SignedDocument(description, by: vectors.gatewayKeys[1])
        #expect(throws: ExitModelError.badSignature(of: GatewayDescription.subject)) {
            try document.description(listedIn: vectors.roster(), at: vectors.now)
        }
    }

    @Test func `a description for another exit is refused`() throws {
        let description = try vectors.description("first").with(exit: ExitName("other.example.org"))
        let document = try SignedDocument(description, by: vectors.gatewayKeys[0])
        #expect(throws: ExitModelError.otherExit(expected: "exit.example.org", found: "other.example.org")) {
            try document.description(listedIn: vectors.roster(), at: vectors.now)
        }
    }

    @Test func `a stale description is left out, and the others stay`() throws {
        let directory = try ExitDirectory(json: Array(vectors.directory.utf8))
        let exit = try directory.verified(by: vectors.operatorKey.publicKey, at: vectors.now + 70)
        #expect(exit.gateways.map(\.location.id) == ["us-east-1"])
        #expect(exit.refused == [.stale(ageSeconds: 100, limitSeconds: 90)])
    }

    @Test func `the later of two descriptions of a gateway counts`() throws {
        let directory = try ExitDirectory(json: Array(vectors.directory.utf8))
        let later = try vectors.description("first").with(time: vectors.now)
        let both = try ExitDirectory(
            roster: directory.roster,
            gateways: directory.gateways + [SignedDocument(later, by: vectors.gatewayKeys[0])],
            issuerDirectory: nil
        )
        let exit = try both.verified(by: vectors.operatorKey.publicKey, at: vectors.now)
        #expect(exit.gateways.count == 2 && exit.gateways.contains(later))
    }

    // MARK: Hostile input

    @Test func `damaged documents never crash`() throws {
        let inputs = try ["roster", "first", "second"].map { Array(try vectors.document($0).json.utf8) }
        neverCrash(on: inputs) { bytes in
            _ = try SignedDocument<ExitRoster>(json: bytes).content(by: vectors.operatorKey.publicKey)
            _ = try SignedDocument<GatewayDescription>(json: bytes)
                .description(listedIn: vectors.roster(), at: vectors.now)
        }
        neverCrash(on: [Array(vectors.directory.utf8)], rounds: 500) { bytes in
            _ = try ExitDirectory(json: bytes).verified(by: vectors.operatorKey.publicKey, at: vectors.now)
        }
    }

    @Test func `damaged payloads with a valid signature never crash`() throws {
        let key = try vectors.gatewayKeys[0]
        let roster = try vectors.roster()
        neverCrash(on: try ["first", "second", "roster"].map { Array(try vectors.document($0).payload.utf8) }) {
            bytes in
            let signature = Base64URL.encode(try key.sign(GatewayDescription.label.message(bytes)))
            let json = #"{"payload":"\#(Base64URL.encode(bytes))","signature":"\#(signature)"}"#
            _ = try SignedDocument<GatewayDescription>(json: Array(json.utf8))
                .description(listedIn: roster, at: vectors.now)
        }
    }

    @Test func `a document above the limit is refused before it is decoded`() throws {
        let limit = SignedDocument<GatewayDescription>.byteLimit
        let bytes = [UInt8](repeating: UInt8(ascii: "{"), count: limit + 1)
        let refusal = ExitModelError.tooLong(of: GatewayDescription.subject, limit: limit, found: limit + 1)
        #expect(throws: refusal) { try SignedDocument<GatewayDescription>(json: bytes) }
    }
}
