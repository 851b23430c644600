internal import Bytes
internal import TestSupport
internal import Testing

@testable internal import BlindTokens

/// RFC 9577, Appendix A.2, and a form without quotes.
private struct HeaderVectors: Decodable {
    struct Challenge: Decodable {
        let token_type: UInt16
        let token_key: String
        let max_age: UInt64?
        let token_challenge: String
    }

    struct Case: Decodable, CustomTestStringConvertible {
        let www_authenticate: String
        let challenges: [Challenge]

        var testDescription: String { String(www_authenticate.prefix(24)) }
    }

    let headers: [Case]

    static func load() throws -> [Case] {
        try vectors(named: "BlindTokens/rfc9577-headers.json", as: Self.self).headers
    }
}

@Suite("PrivateToken headers") struct HeaderTests {
    @Test(arguments: try HeaderVectors.load())
    private func `a public header gives its challenges`(sample: HeaderVectors.Case) throws {
        let found = try PrivateTokenHeader.challenges(inAuthenticate: sample.www_authenticate)
        #expect(found.count == sample.challenges.count)
        for (challenge, expected) in zip(found, sample.challenges) {
            #expect(challenge.tokenType == expected.token_type)
            #expect(Hex.encode(challenge.challenge) == expected.token_challenge)
            #expect(challenge.tokenKey.map { Hex.encode($0) } == expected.token_key)
            #expect(challenge.maxAge == expected.max_age)
        }
    }

    @Test(arguments: [
        "PrivateToken challenge=\"AAIA\", max-age=10",
        "PrivateToken challenge=\"AAIA\", max-age=\"10\"",
        "PrivateToken challenge=AAIA,max-age=10",
        "privatetoken CHALLENGE=AAIA , Max-Age = 10",
        "  PrivateToken   challenge=\"AAIA\",x=y,max-age=10 , ",
        "Basic realm=\"a, PrivateToken challenge=\\\"AAAA\\\"\", PrivateToken challenge=AAIA, max-age=10",
        "Negotiate, PrivateToken challenge=AAIA, max-age=10",
        "Negotiate YWJj==, PrivateToken challenge=AAIA, max-age=10",
        "PrivateToken challenge=AAIA, max-age=10, Bearer",
        "PrivateToken token-key=\"AA==\", PrivateToken challenge=AAIA, max-age=10",
        "PrivateToken challenge=\"A?\", PrivateToken challenge=AAIA, max-age=10",
    ]) func `a header in any form of RFC 9110 is read`(value: String) throws {
        let found = try PrivateTokenHeader.challenges(inAuthenticate: value)
        #expect(found == [PrivateTokenChallenge(challenge: [0, 2, 0], tokenKey: nil, maxAge: 10)])
    }

    @Test(arguments: [
        "challenge=AAIA",
        "=",
        "PrivateToken challenge=\"AAIA",
        "PrivateToken challenge=\"AAIA\\",
        "PrivateToken challenge=\"AAIA\" max-age=10",
        "PrivateToken challenge=AAIA, challenge=AAIA",
        "PrivateToken@",
        "PrivateToken challenge=AAIA, \"",
        String(repeating: "A, ", count: 17),
        "PrivateToken " + (0..<17).map { "p\($0)=1" }.joined(separator: ","),
        String(repeating: " ", count: 16_385),
    ]) func `a header that is not a bounded list of challenges is refused`(value: String) throws {
        #expect(throws: BlindTokenError.self) { try PrivateTokenHeader.challenges(inAuthenticate: value) }
    }

    @Test func `a header without challenges for tokens is empty`() throws {
        for value in ["", "Basic realm=\"x\"", ", ,", "Bearer"] {
            #expect(try PrivateTokenHeader.challenges(inAuthenticate: value) == [])
        }
    }

    @Test func `challenges are written as they are read`() throws {
        let key = try Samples.issuer().publicKey
        let challenges = [
            PrivateTokenChallenge(try Samples.challenge(), key: key, maxAge: 10),
            PrivateTokenChallenge(try Samples.challenge(at: 0), key: key),
        ]
        let value = PrivateTokenHeader.authenticateValue(challenges)
        #expect(try PrivateTokenHeader.challenges(inAuthenticate: value) == challenges)
        #expect(try TokenChallenge(challenges[0].challenge) == Samples.challenge())
        #expect(value.hasPrefix("PrivateToken challenge=\"AAIA"))
        #expect(value.hasSuffix("\""))
    }

    @Test func `a token is written as it is read`() throws {
        var random = SplitMix64(seed: 4)
        let key = try Samples.issuer().publicKey
        let token = try Samples.unsignedToken(for: Samples.challenge(), keyId: key.keyId, using: &random)
        let value = PrivateTokenHeader.authorizationValue(token)
        #expect(value.hasPrefix("PrivateToken token=\"AA"))
        #expect(try PrivateTokenHeader.tokenBytes(inAuthorization: value) == token.bytes)
        let unquoted = value.filter { $0 != "\"" } + ", extensions=1"
        #expect(try PrivateTokenHeader.tokenBytes(inAuthorization: unquoted) == token.bytes)
        #expect(try PrivateTokenHeader.tokenBytes(inAuthorization: "Bearer abc") == nil)
    }

    @Test(arguments: [
        "PrivateToken",
        "PrivateToken token=\"AA\"",
        "PrivateToken token=\"AA+/\"",
        "PrivateToken token=\"AAAA\", PrivateToken token=\"AAAA\"",
        "",
    ]) func `credentials without one token are refused`(value: String) throws {
        #expect(throws: BlindTokenError.self) { try PrivateTokenHeader.tokenBytes(inAuthorization: value) }
    }
}
