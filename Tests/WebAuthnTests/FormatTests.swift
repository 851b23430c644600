internal import Bytes
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport

@Suite("Authenticator data") struct AuthenticatorDataTests {
    private func valid(_ change: (inout SoftwareAuthenticator) -> Void = { _ in }) throws -> [UInt8] {
        var authenticator = try SoftwareAuthenticator(.eddsa)
        change(&authenticator)
        return try authenticator.authenticatorData(withCredential: true)
    }

    @Test func `every field is read`() throws {
        let data = try AuthenticatorData(valid { $0.signCount = 0x0102_0304 })
        #expect(data.relyingPartyIdHash.count == 32)
        #expect(data.signCount == 0x0102_0304)
        #expect(data.attestedCredential?.aaguid == [UInt8](1...16))
        #expect(data.attestedCredential?.id.count == 32)
        #expect(data.flags == [.userPresent, .userVerified, .backupEligible, .backedUp, .hasAttestedCredential])
        #expect(data.extensions.isEmpty)
    }

    @Test func `bytes after the last part are refused`() throws {
        for bytes in [try valid(), [UInt8](try valid().prefix(32)) + [0x05, 0, 0, 0, 0]] {
            #expect(throws: WebAuthnError.self) { try AuthenticatorData(bytes + [0xA0]) }
            #expect(throws: Never.self) { try AuthenticatorData(bytes) }
        }
    }

    @Test func `the flags decide which parts follow`() throws {
        var bytes = try valid()
        bytes[32] |= 0x80
        #expect(throws: WebAuthnError.self) { try AuthenticatorData(bytes) }
        bytes[32] &= ~0xC0
        #expect(throws: WebAuthnError.self) { try AuthenticatorData(bytes) }
        var short = [UInt8](try valid().prefix(37))
        short[32] = 0x45
        #expect(throws: WebAuthnError.self) { try AuthenticatorData(short) }
    }

    @Test func `extensions are a map of names`() throws {
        let read = try AuthenticatorData(valid { $0.extensions = .map([.text("credProtect"): .integer(3)]) })
        #expect(read.extensions == [.text("credProtect"): .integer(3)])
        for extensions in [CBORItem.map([:]), .map([.integer(1): .integer(2)]), .array([]), .null] {
            #expect(throws: WebAuthnError.self) { try AuthenticatorData(valid { $0.extensions = extensions }) }
        }
    }

    @Test func `more than 8192 bytes are not read`() throws {
        #expect(throws: WebAuthnError.tooLong("the authenticator data", limit: 8_192, found: 8_193)) {
            try AuthenticatorData([UInt8](repeating: 0, count: 8_193))
        }
    }

    @Test func `damaged data never crash`() throws {
        let inputs = [
            try valid(), try valid { $0.extensions = .map([.text("credProtect"): .integer(3)]) },
            try SoftwareAuthenticator(.rs256).authenticatorData(withCredential: true),
            try SoftwareAuthenticator().authenticatorData(withCredential: false),
        ]
        neverCrash(on: inputs) { bytes in _ = try AuthenticatorData(bytes) }
    }
}

@Suite("Attestation object") struct AttestationObjectTests {
    @Test func `members of unknown names are ignored`() throws {
        let response = try SoftwareAuthenticator().register(Sample.challenge) { $0[.text("zz")] = .boolean(true) }
        #expect(try AttestationObject(response.attestationObject).format == "none")
    }

    @Test func `more than 64 KiB are not read`() throws {
        #expect(throws: WebAuthnError.tooLong("the attestation object", limit: 65_536, found: 65_537)) {
            try AttestationObject([UInt8](repeating: 0, count: 65_537))
        }
    }

    @Test func `deep nesting is refused`() throws {
        let response = try SoftwareAuthenticator().register(Sample.challenge) {
            $0[.text("attStmt")] = .map([.text("a"): .array([.array([.array([])])])])
        }
        let error = #expect(throws: WebAuthnError.self) { try AttestationObject(response.attestationObject) }
        #expect(error?.description.contains("4 levels") == true)
    }

    @Test func `damaged objects never crash`() throws {
        let inputs = try SoftwareAuthenticator.Attestation.allCases.map {
            try SoftwareAuthenticator(attestation: $0).register(Sample.challenge)
        }
        let clientData = inputs[0].clientDataJSON
        neverCrash(on: inputs.map(\.attestationObject)) { bytes in
            let response = RegistrationResponse(
                rawId: inputs[0].rawId,
                clientDataJSON: clientData,
                attestationObject: bytes,
                transports: [],
                isDiscoverable: nil
            )
            _ = try Sample.server.verify(response, challenge: Sample.challenge)
        }
    }
}

@Suite("Client data") struct ClientDataTests {
    private let text = #"{"type":"webauthn.get","challenge":"AQID","origin":"https://a.example","crossOrigin":false}"#

    @Test func `unknown members are ignored, whatever their values`() throws {
        let extra =
            #","other_keys_can_be_added_here":"do not compare","tokenBinding":{"status":"supported"},"n":[1,-2.5]}"#
        let data = try CollectedClientData(json: Array((text.dropLast() + extra).utf8))
        #expect(data.type == "webauthn.get")
        #expect(data.challenge == [1, 2, 3])
        #expect(data.origin == "https://a.example")
        #expect(!data.crossOrigin)
        #expect(data.topOrigin == nil)
    }

    @Test func `a byte order mark is skipped`() throws {
        let json = Array(text.utf8)
        #expect(try CollectedClientData(json: [0xEF, 0xBB, 0xBF] + json) == CollectedClientData(json: json))
    }

    @Test func `crossOrigin and topOrigin may be missing, but not of another kind`() throws {
        let short = #"{"type":"t","challenge":"AQID","origin":"o"}"#
        #expect(try !CollectedClientData(json: Array(short.utf8)).crossOrigin)
        for member in [#""crossOrigin":"true""#, #""crossOrigin":null"#, #""topOrigin":1"#, #""topOrigin":null"#] {
            let json = short.dropLast() + "," + member + "}"
            #expect(throws: WebAuthnError.self) { try CollectedClientData(json: Array(json.utf8)) }
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"type":1,"challenge":"AQID","origin":"o"}"#, #"{"type":"t","origin":"o"}"#,
        #"{"type":"t","challenge":"AQID="#, #"{"type":"t","challenge":"AQI=","origin":"o"}"#,
        #"{"type":"t","challenge":"AQID"}"#, #"{"type":"t","type":"t","challenge":"AQID","origin":"o"}"#,
        #"{"type":"t","challenge":"AQID","origin":"o"} x"#,
    ])
    func `other texts are refused`(json: String) {
        #expect(throws: WebAuthnError.self) { try CollectedClientData(json: Array(json.utf8)) }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        let json = Array(#"{"type":"t","challenge":"AQID","origin":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
        #expect(throws: WebAuthnError.malformed(of: "the client data", reason: "it is not UTF-8")) {
            try CollectedClientData(json: json)
        }
    }

    @Test func `more than 4096 bytes are not read`() {
        let json = Array(text.utf8) + [UInt8](repeating: 0x20, count: 4_097 - text.utf8.count)
        #expect(throws: WebAuthnError.tooLong("the client data", limit: 4_096, found: 4_097)) {
            try CollectedClientData(json: json)
        }
        #expect(throws: Never.self) { try CollectedClientData(json: [UInt8](json.dropLast())) }
    }

    @Test func `damaged client data never crash`() {
        neverCrash(on: [Array(text.utf8)], rounds: 5_000) { bytes in _ = try CollectedClientData(json: bytes) }
    }
}
