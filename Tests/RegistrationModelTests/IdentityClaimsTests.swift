internal import RegistrationModel
internal import TestSupport
internal import Testing

@Suite("Claims of identity tokens") struct IdentityClaimsTests {
    private func claims(
        scopes: [String] = [],
        attributes: [IdentityToken.Attribute] = [],
        expires: UInt64 = 2,
        audience: String = "a",
        device: String? = nil
    ) throws -> IdentityToken {
        try IdentityToken(
            userId: UserId(text: "0b9f3c5e-7a41-4f0e-9d52-6c1a8e2b7f30"),
            flags: [],
            scopes: scopes,
            attributes: attributes,
            tokenId: UniqueId(text: "5d1c2b3a-4f5e-4d6c-8b7a-9e0f1a2b3c4d"),
            issued: 1,
            expires: expires,
            audience: audience,
            device: device
        )
    }

    @Test func `claims at their bounds have a binary form within its bound`() throws {
        let token = try claims(
            scopes: (0..<32).map { String(repeating: "s", count: 62) + String(10 + $0) },
            attributes: (0..<32).map { .init(.init(rawValue: $0), .max) },
            expires: 253_402_300_799,
            audience: String(repeating: "a", count: 512),
            device: String(repeating: "d", count: 255)
        )
        #expect(token.encoded.count <= IdentityToken.byteLimit)
        #expect(try IdentityToken(token.encoded) == token)
        #expect(throws: IdentityClaimsError.wrongLength(of: "a token", limit: 4096, found: 4097)) {
            try IdentityToken([UInt8](repeating: 0, count: 4097))
        }
    }

    @Test func `claims beyond a bound are refused with it`() throws {
        let long = String(repeating: "x", count: 513)
        #expect(throws: IdentityClaimsError.tooMany(of: "scopes", limit: 32, found: 33)) {
            try claims(scopes: (0..<33).map { "\($0)" })
        }
        #expect(throws: IdentityClaimsError.wrongLength(of: "a scope", limit: 64, found: 65)) {
            try claims(scopes: [String(long.prefix(65))])
        }
        #expect(throws: IdentityClaimsError.repeated(of: "a scope")) { try claims(scopes: ["a", "a"]) }
        for scope in ["a b", "a\"", "a\\", "é"] {
            #expect(throws: IdentityClaimsError.self) { try claims(scopes: [scope]) }
        }
        #expect(throws: IdentityClaimsError.tooMany(of: "attributes", limit: 32, found: 33)) {
            try claims(attributes: (0..<33).map { .init(.init(rawValue: $0), 0) })
        }
        #expect(throws: IdentityClaimsError.repeated(of: "an attribute")) {
            try claims(attributes: [.init(.age, 18), .init(.age, 17)])
        }
        #expect(throws: IdentityClaimsError.wrongLength(of: "the audience", limit: 512, found: 513)) {
            try claims(audience: long)
        }
        #expect(throws: IdentityClaimsError.wrongLength(of: "the audience", limit: 512, found: 0)) {
            try claims(audience: "")
        }
        #expect(throws: IdentityClaimsError.wrongLength(of: "the name of the device", limit: 255, found: 256)) {
            try claims(device: String(long.prefix(256)))
        }
        #expect(throws: IdentityClaimsError.self) { try claims(device: "a\u{202E}b") }
        for expires in [UInt64(0), 253_402_300_800, .max] {
            #expect(throws: IdentityClaimsError.timesOutOfOrder) { try claims(expires: expires) }
        }
        #expect(throws: Never.self) { try claims(expires: 1) }
    }

    @Test func `a count beyond its bound is refused before the elements are read`() throws {
        let start = try claims().encoded.prefix(24)
        #expect(throws: IdentityClaimsError.tooMany(of: "scopes", limit: 32, found: 65_535)) {
            try IdentityToken(start + [0xFF, 0xFF])
        }
        #expect(throws: IdentityClaimsError.tooMany(of: "attributes", limit: 32, found: 33)) {
            try IdentityToken(start + [0, 0, 33, 0])
        }
    }

    @Test func `every shorter form is refused`() throws {
        let bytes = try claims(scopes: ["openid"], attributes: [.init(.tier, 1)], device: "phone").encoded
        for count in 0..<bytes.count {
            #expect(throws: IdentityClaimsError.self) { try IdentityToken(Array(bytes.prefix(count))) }
        }
    }
}
