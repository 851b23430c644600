internal import Bytes
internal import Foundation
internal import TestSupport
internal import Testing
internal import WebAuthn

@Suite("Options of a ceremony") struct OptionsTests {
    private let user = UserEntity(id: [1, 2, 3], name: "ada", displayName: "Ada")
    private let descriptor = CredentialDescriptor(id: [9, 8], transports: ["usb", "internal"])

    private func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test func `the options of a registration have the form of Level 3`() throws {
        let options = Sample.server.creationOptions(for: user, challenge: Sample.challenge, excluding: [descriptor])
        let expected =
            #"{"attestation":"none","authenticatorSelection":{"requireResidentKey":true,"residentKey":"required","#
            + #""userVerification":"required"},"challenge":"WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo","#
            + #""excludeCredentials":[{"id":"CQg","transports":["usb","internal"],"type":"public-key"}],"#
            + #""extensions":{"credProps":true},"pubKeyCredParams":[{"alg":-7,"type":"public-key"},"#
            + #"{"alg":-8,"type":"public-key"},{"alg":-257,"type":"public-key"}],"#
            + #""rp":{"id":"example.org","name":"Example"},"timeout":300000,"#
            + #""user":{"displayName":"Ada","id":"AQID","name":"ada"}}"#
        #expect(try text(options) == expected)
        #expect(try JSONDecoder().decode(CredentialCreationOptions.self, from: Data(expected.utf8)) == options)
    }

    @Test func `the options of an authentication have the form of Level 3`() throws {
        let options = Sample.server.requestOptions(
            challenge: Sample.challenge,
            allowing: [CredentialDescriptor(id: [9], transports: [])]
        )
        let expected =
            #"{"allowCredentials":[{"id":"CQ","type":"public-key"}],"#
            + #""challenge":"WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo","rpId":"example.org","timeout":300000,"#
            + #""userVerification":"required"}"#
        #expect(try text(options) == expected)
        #expect(try JSONDecoder().decode(CredentialRequestOptions.self, from: Data(expected.utf8)) == options)
    }

    @Test func `a server can ask for an attestation and its own algorithms`() throws {
        var server = Sample.server
        server.algorithms = [.es256]
        server.requiresUserVerification = false
        let options = server.creationOptions(for: user, challenge: Sample.challenge, attestation: .direct)
        #expect(options.attestation == .direct)
        #expect(options.algorithms == [.es256])
        #expect(options.authenticatorSelection.userVerification == .preferred)
    }

    @Test func `a client leaves out algorithms that it does not know`() throws {
        let options = Sample.server.creationOptions(for: user, challenge: Sample.challenge)
        let changed = try JSONForms.changed(options) {
            $0["pubKeyCredParams"] = [["type": "public-key", "alg": -35], ["type": "public-key", "alg": -8]]
        }
        #expect(changed.algorithms == [.eddsa])
    }

    @Test(arguments: ["", "AQ==", String(repeating: "A", count: 87)])
    func `a user handle has 1 to 64 bytes in base64url`(text: String) throws {
        let options = Sample.server.creationOptions(for: user, challenge: Sample.challenge)
        #expect(throws: WebAuthnError.self) {
            try JSONForms.changed(options) { $0["user"] = ["id": text, "name": "a", "displayName": "A"] }
        }
    }

    @Test func `lists and names are bounded`() throws {
        let options = Sample.server.creationOptions(for: user, challenge: Sample.challenge)
        let entry: [String: Any] = ["type": "public-key", "id": "AQ"]
        #expect(throws: WebAuthnError.tooLong("excludeCredentials", limit: 64, found: 65)) {
            try JSONForms.changed(options) { $0["excludeCredentials"] = [[String: Any]](repeating: entry, count: 65) }
        }
        #expect(throws: WebAuthnError.tooLong("name", limit: 256, found: 257)) {
            try JSONForms.changed(options) {
                $0["user"] = ["id": "AQ", "name": String(repeating: "a", count: 257), "displayName": "A"]
            }
        }
        #expect(throws: WebAuthnError.wrongCredentialType("x")) {
            try JSONForms.changed(options) { $0["excludeCredentials"] = [["type": "x", "id": "AQ"]] }
        }
        for transports in [["a b"], ["a_b"], [""], [String(repeating: "a", count: 33)]] {
            #expect(throws: WebAuthnError.self) {
                try JSONForms.changed(options) {
                    $0["excludeCredentials"] = [["type": "public-key", "id": "AQ", "transports": transports]]
                }
            }
        }
    }

    @Test func `damaged options never crash`() throws {
        let creation = Sample.server.creationOptions(for: user, challenge: Sample.challenge, excluding: [descriptor])
        let request = Sample.server.requestOptions(challenge: Sample.challenge, allowing: [descriptor])
        neverCrash(onTexts: [try text(creation)], rounds: 500) { text in
            _ = try JSONDecoder().decode(CredentialCreationOptions.self, from: Data(text.utf8))
        }
        neverCrash(onTexts: [try text(request)], rounds: 500) { text in
            _ = try JSONDecoder().decode(CredentialRequestOptions.self, from: Data(text.utf8))
        }
    }
}
