internal import Bytes
internal import Foundation
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport

@Suite("Responses in JSON") struct ResponseTests {
    private func registration() throws -> RegistrationResponse {
        try SoftwareAuthenticator().register(Sample.challenge)
    }

    private func authentication() throws -> AuthenticationResponse {
        try SoftwareAuthenticator().authenticate(Sample.challenge)
    }

    @Test func `responses are read back from their JSON forms`() throws {
        let (registration, authentication) = (try registration(), try authentication())
        #expect(try JSONForms.changed(registration) { _ in } == registration)
        #expect(try JSONForms.changed(authentication) { _ in } == authentication)
    }

    @Test func `transports and extension results may be missing`() throws {
        let changed = try JSONForms.changed(registration()) { object in
            object["clientExtensionResults"] = nil
            var response = object["response"] as? [String: Any] ?? [:]
            response["transports"] = nil
            object["response"] = response
        }
        #expect(changed.transports.isEmpty)
        #expect(changed.isDiscoverable == nil)
    }

    @Test func `a user handle may be missing or null, and has at most 64 bytes`() throws {
        let authentication = try authentication()
        #expect(try JSONForms.changedResponse(authentication) { $0["userHandle"] = NSNull() }.userHandle == nil)
        #expect(try JSONForms.changedResponse(authentication) { $0["userHandle"] = nil }.userHandle == nil)
        #expect(throws: WebAuthnError.tooLong("userHandle", limit: 86, found: 87)) {
            try JSONForms.changedResponse(authentication) { $0["userHandle"] = String(repeating: "A", count: 87) }
        }
    }

    @Test func `texts are measured before they are decoded`() throws {
        let registration = try registration()
        // Not base64url, so that only the measure can refuse it.
        func long(_ limit: Int) -> String { String(repeating: "!", count: limit + 1) }
        for (name, limit) in [("id", 1_364), ("rawId", 1_364), ("type", 64)] {
            #expect(throws: WebAuthnError.tooLong(name, limit: limit, found: limit + 1)) {
                try JSONForms.changed(registration) { $0[name] = long(limit) }
            }
        }
        for (name, limit) in [("clientDataJSON", 5_462), ("attestationObject", 87_382)] {
            #expect(throws: WebAuthnError.tooLong(name, limit: limit, found: limit + 1)) {
                try JSONForms.changedResponse(registration) { $0[name] = long(limit) }
            }
        }
        for (name, limit) in [("clientDataJSON", 5_462), ("authenticatorData", 10_923), ("signature", 1_366)] {
            #expect(throws: WebAuthnError.tooLong(name, limit: limit, found: limit + 1)) {
                try JSONForms.changedResponse(authentication()) { $0[name] = long(limit) }
            }
        }
    }

    @Test func `base64 with padding or of the other alphabet is refused`() throws {
        for text in ["AQ==", "+/8", "A Q"] {
            #expect(throws: WebAuthnError.self) {
                try JSONForms.changedResponse(authentication()) { $0["signature"] = text }
            }
        }
    }

    @Test func `too many transports are refused`() throws {
        #expect(throws: WebAuthnError.tooLong("transports", limit: 16, found: 17)) {
            try JSONForms.changedResponse(registration()) { $0["transports"] = [String](repeating: "usb", count: 17) }
        }
    }

    @Test func `damaged responses never crash`() throws {
        let registration = try JSONEncoder().encode(registration())
        let authentication = try JSONEncoder().encode(authentication())
        neverCrash(on: [[UInt8](registration)], rounds: 500) { bytes in
            let response = try JSONDecoder().decode(RegistrationResponse.self, from: Data(bytes))
            _ = try Sample.server.verify(response, challenge: Sample.challenge)
        }
        let record = try SoftwareAuthenticator().record()
        neverCrash(on: [[UInt8](authentication)], rounds: 500) { bytes in
            let response = try JSONDecoder().decode(AuthenticationResponse.self, from: Data(bytes))
            _ = try Sample.server.verify(response, challenge: Sample.challenge, for: record)
        }
    }
}
