internal import Foundation
internal import TestSupport
internal import Testing

@Suite("runar inspect of identity tokens", .aside) struct InspectTokenTests {
    private let key = packageRoot.appending(path: "Tests/Vectors/RegistrationModel/recipient.pem").path

    private func token() throws -> String {
        String(decoding: try vector(named: "RegistrationModel/token.txt"), as: UTF8.self)
    }

    @Test func `an identity token shows its header alone without a key`() throws {
        let outcome = try runar(["inspect", "--json", "-"], input: token())
        #expect(outcome.status == 0)
        #expect(try outcome.text("kind") == "identity-token")
        #expect(try outcome.text("key_access") == "https://kas.arkavo.net")
        #expect(try outcome.text("creator").count == 66)
        #expect(try outcome.json["valid"] as? Bool == true)
        #expect(try outcome.json["user_id"] == nil)
    }

    @Test func `the key of its service shows the claims of an identity token`() throws {
        let outcome = try runar(["inspect", "--json", "--key", key, "-"], input: token())
        #expect(outcome.status == 0)
        #expect(try outcome.text("user_id") == "0b9f3c5e-7a41-4f0e-9d52-6c1a8e2b7f30")
        #expect(try outcome.text("issuer") == "https://identity.arkavo.net")
        #expect(try outcome.json["scopes"] as? [String] == ["openid", "profile"])
        #expect(try outcome.text("did").hasPrefix("did:key:zDnae"))
        #expect(try outcome.text("expires") == "2027-01-15 08:15:00 UTC")
    }

    @Test func `a changed identity token is not valid`() throws {
        // The last characters are of the creator's signature.
        let changed = String(try token().dropLast(3)) + "AA"
        let outcome = try runar(["inspect", "--json", "--key", key, "-"], input: changed)
        #expect(try outcome.json["valid"] as? Bool == false)
        #expect(try outcome.text("problem").contains("it has no valid signature"))
        #expect(try outcome.json["user_id"] == nil)
        let cut = try runar(["inspect", "--json", "-"], input: String(token().dropLast(9)))
        #expect(cut.status == 65)
    }
}
