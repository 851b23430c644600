internal import Failures
internal import Testing
internal import WebAuthn

@Suite("Errors of passkeys") struct WebAuthnErrorTests {
    @Test func `a missing verification names the PIN as the next step`() {
        let text = WebAuthnError.userNotVerified.description
        #expect(text.contains("set a PIN on the security key, or use one with fingerprint"))
        #expect(WebAuthnError.userNotVerified.failureCode == FailureCode("user-not-verified", .refused, .notPermitted))
    }

    @Test func `damaged responses are bad requests, and refusals are forbidden`() {
        #expect(WebAuthnError.malformed(of: "x", reason: "y").failureCode.httpStatus == 400)
        #expect(WebAuthnError.badSignature.failureCode.httpStatus == 403)
        #expect(WebAuthnError.counterDidNotIncrease(stored: 2, received: 1).failureCode.slug == "passkey-may-be-copied")
    }

    @Test func `texts of the client are quoted`() {
        let text = WebAuthnError.originNotAllowed("https://a\u{1B}[2J\n.example").description
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }
}
