internal import Bytes
internal import Failures
internal import Foundation
internal import Identity
internal import NanoTDF
internal import RegistrationModel
internal import TestSupport
internal import Testing

/// Tokens that `generate.py` seals with other libraries, and one that this library sealed.
struct TokenVectors: Decodable {
    struct Claims: Decodable {
        let encoded: String
        let user: String
        let flags: UInt64
        let scopes: [String]
        let attributes: [[UInt32]]
        let token: String
        let issued: UInt64
        let expires: UInt64
        let session: String
        let device: String
        let did: String

        func token(audience: String) throws -> IdentityToken {
            try IdentityToken(
                userId: UserId(text: user),
                flags: IdentityToken.Flags(rawValue: flags),
                scopes: scopes,
                attributes: attributes.map { .init(.init(rawValue: UInt8($0[0])), $0[1]) },
                tokenId: UniqueId(text: token),
                issued: issued,
                expires: expires,
                audience: audience,
                sessionId: UniqueId(text: session),
                device: device,
                did: DIDKey(did)
            )
        }
    }

    struct Token: Decodable, CustomTestStringConvertible {
        let name: String
        let result: String
        let text: String

        var testDescription: String { name }
    }

    let now: UInt64
    let issuer: String
    let audience: String
    let signing: String
    let previous: String
    let recipient: String
    let claims: Claims
    let tokens: [Token]

    static let file = Result { try vectors(named: "RegistrationModel/tokens.json", as: TokenVectors.self) }

    func signingKey() throws -> NanoTDFPrivateKey { try Self.key(signing) }

    func recipientKey() throws -> NanoTDFPrivateKey { try Self.key(recipient) }

    /// The verifier of the vectors, which accepts the previous key until the time of the vectors.
    func verifier() throws -> IdentityTokenVerifier {
        let previous = try #require(NanoTDFPublicKey(compressed: Hex.decode(previous), on: .secp256r1))
        return try IdentityTokenVerifier(
            decryptionKey: recipientKey(),
            issuer: issuer,
            audience: audience,
            issuerKeys: [.init(signingKey().publicKey), .init(previous, validUntil: now)]
        )
    }

    func sealer() throws -> IdentityTokenSealer {
        try IdentityTokenSealer(signingKey: signingKey(), recipient: recipientKey().publicKey, issuer: issuer)
    }

    private static func key(_ hex: String) throws -> NanoTDFPrivateKey {
        try NanoTDFPrivateKey(rawRepresentation: SecretBytes(copying: Hex.decode(hex)), on: .secp256r1)
    }
}

@Suite("Identity tokens") struct IdentityTokenTests {
    private let vectors: TokenVectors
    private let verifier: IdentityTokenVerifier
    private let token: IdentityToken

    init() throws {
        vectors = try TokenVectors.file.get()
        verifier = try vectors.verifier()
        token = try vectors.claims.token(audience: vectors.audience)
    }

    @Test(arguments: try TokenVectors.file.get().tokens)
    func `a token of another implementation has its result`(vector: TokenVectors.Token) throws {
        do {
            _ = try verifier.verify(vector.text, at: vectors.now)
            #expect(vector.result == "valid")
        } catch {
            #expect(Self.name(of: error) == vector.result, "\(error)")
        }
    }

    @Test func `the vectors have every result that verification gives`() {
        let results = Set(vectors.tokens.map(\.result))
        #expect(
            results == [
                "valid", "invalidFormat", "invalidSignature", "expired", "notYetValid", "invalidAudience",
                "wrongIssuer", "decryptionFailed", "policyViolation",
            ]
        )
    }

    @Test func `the claims of another implementation are read and written alike`() throws {
        #expect(Hex.encode(token.encoded) == vectors.claims.encoded)
        #expect(try IdentityToken(Hex.decode(vectors.claims.encoded)) == token)
        let whole = try #require(vectors.tokens.first)
        #expect(try verifier.verify(whole.text, at: vectors.now) == token)
        #expect(token.flags == [.profile, .openId, .webAuthn])
        #expect(token.attributes.map(\.kind) == [.tier, IdentityToken.Attribute.Kind(rawValue: 9)])
    }

    @Test func `a token of this library opens with the fixed keys`() throws {
        let text = String(decoding: try vector(named: "RegistrationModel/token.txt"), as: UTF8.self)
        #expect(try verifier.verify(String(text.dropLast()), at: vectors.now) == token)
        #expect(text.last == "\n")
    }

    @Test func `a sealed token has its claims in the payload alone`() throws {
        let text = try vectors.sealer().seal(token)
        #expect(try verifier.verify(text, at: vectors.now) == token)
        #expect(text.hasPrefix("TDFM"))
        #expect(text.utf8.count < 1024)
        // RFC 6750, section 2.1, without padding.
        #expect(text.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil)
        let bytes = try Base64URL.decode(text)
        let file = try NanoTDF(bytes)
        #expect(file.header.keyAccess.url == "https://kas.arkavo.net")
        #expect(file.header.keyAccess.identifier == (try vectors.recipientKey().publicKey.identifier))
        #expect(file.header.isSigned && file.hasValidCreatorSignature == true)
        #expect(file.header.policy.type == 2)
        for secret in ["openid", "phone", "zDnae", vectors.issuer, vectors.claims.token] {
            #expect(!String(decoding: bytes, as: UTF8.self).contains(secret))
        }
        #expect(try vectors.sealer().seal(token) != text)
    }

    @Test func `the previous key counts until its end`() throws {
        let previous = try #require(vectors.tokens.first { $0.name == "previous key" })
        #expect(try verifier.verify(previous.text, at: vectors.now) == token)
        let error = #expect(throws: IdentityTokenError.self) { try verifier.verify(previous.text, at: vectors.now + 1) }
        #expect(error.map { Self.name(of: $0) } == "invalidSignature")
        #expect(error?.description.contains("no longer in use") == true)
        let whole = try #require(vectors.tokens.first)
        #expect(try verifier.verify(whole.text, at: vectors.now + 1) == token)
    }

    @Test func `a token counts from a minute before its issue until a minute after its end`() throws {
        let text = try vectors.sealer().seal(token)
        #expect(throws: IdentityTokenError.notYetValid) { try verifier.verify(text, at: token.issued - 61) }
        #expect(throws: Never.self) { try verifier.verify(text, at: token.issued - 60) }
        #expect(throws: Never.self) { try verifier.verify(text, at: token.expires + 60) }
        #expect(throws: IdentityTokenError.expired) { try verifier.verify(text, at: token.expires + 61) }
        #expect(throws: IdentityTokenError.notYetValid) { try verifier.verify(text, at: 0) }
        #expect(throws: IdentityTokenError.expired) { try verifier.verify(text, at: .max) }
    }

    @Test func `a key that only encrypts cannot make a token`() throws {
        let attacker = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let recipient = try vectors.recipientKey().publicKey
        let sealer = try IdentityTokenSealer(signingKey: attacker, recipient: recipient, issuer: vectors.issuer)
        let forged = try sealer.seal(token)
        let error = #expect(throws: IdentityTokenError.self) { try verifier.verify(forged, at: vectors.now) }
        #expect(error.map { Self.name(of: $0) } == "invalidSignature")
    }

    @Test func `a changed token is refused`() throws {
        let text = try vectors.sealer().seal(token)
        let bytes = try Base64URL.decode(text)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(throws: IdentityTokenError.self) { try verifier.verify(Base64URL.encode(changed), at: vectors.now) }
        }
    }

    @Test func `the text of a token is bounded before it is read`() {
        let text = String(repeating: "A", count: 8193)
        let reason = "it has 8193 characters, and at most 8192 are read"
        #expect(throws: IdentityTokenError.invalidFormat(reason: reason)) { try verifier.verify(text, at: 0) }
    }

    @Test func `failures of tokens ask for a new one with the status 401`() {
        let failures: [IdentityTokenError] = [
            .invalidFormat(reason: ""), .invalidSignature(reason: ""), .expired, .notYetValid, .invalidAudience,
            .wrongIssuer, .decryptionFailed, .policyViolation(reason: ""), .revoked,
        ]
        for failure in failures { #expect(failure.failureCode.httpStatus == 401) }
        #expect(IdentityTokenError.sealingFailed(reason: "").failureCode.httpStatus == 500)
        #expect(Set(failures.map(\.failureCode.slug)).count == 3)
    }

    @Test func `keys on other curves and other texts than URLs are refused`() throws {
        let other = try NanoTDFPrivateKey(generatedOn: .secp384r1)
        let (signing, recipient) = (try vectors.signingKey(), try vectors.recipientKey())
        for issuer in ["", "identity.arkavo.net", "ftp://a", "https://", "https://a b", "https://a\"", "https://u@a"] {
            let error = #expect(throws: IdentityTokenError.self) {
                try IdentityTokenSealer(signingKey: signing, recipient: recipient.publicKey, issuer: issuer)
            }
            #expect(error.map { Self.name(of: $0) } == "invalidConfiguration", "\(issuer)")
        }
        #expect(throws: IdentityTokenError.self) {
            try IdentityTokenSealer(signingKey: other, recipient: recipient.publicKey, issuer: vectors.issuer)
        }
        #expect(throws: IdentityTokenError.self) {
            try IdentityTokenSealer(signingKey: signing, recipient: other.publicKey, issuer: vectors.issuer)
        }
        for keys: [IdentityTokenVerifier.IssuerKey] in [[], [.init(other.publicKey)]] {
            #expect(throws: IdentityTokenError.self) {
                try IdentityTokenVerifier(
                    decryptionKey: recipient,
                    issuer: vectors.issuer,
                    audience: vectors.audience,
                    issuerKeys: keys
                )
            }
        }
        let local = try IdentityTokenVerifier(
            decryptionKey: recipient,
            issuer: "http://localhost:8443",
            audience: "http://localhost:8443/xrpc?a#b",
            issuerKeys: [.init(signing.publicKey)]
        )
        let claims = try vectors.claims.token(audience: "http://localhost:8443/xrpc?a#b")
        let sealer = try IdentityTokenSealer(
            signingKey: signing,
            recipient: recipient.publicKey,
            issuer: "http://localhost:8443"
        )
        let text = try sealer.seal(claims)
        #expect(try local.verify(text, at: vectors.now) == claims)
        #expect(try NanoTDF(Base64URL.decode(text)).header.keyAccess.url == "http://localhost:8443")
    }

    @Test func `no text crashes the verifier`() throws {
        let inputs = try vectors.tokens.prefix(4).map { try Base64URL.decode($0.text) }
        neverCrash(on: inputs, rounds: 500) { bytes in
            _ = try verifier.verify(Base64URL.encode(bytes), at: vectors.now)
        }
        neverCrash(onTexts: vectors.tokens.prefix(2).map(\.text), rounds: 200) { text in
            _ = try verifier.verify(text, at: vectors.now)
        }
    }

    @Test func `no claims crash their reader, and accepted ones have one form`() throws {
        neverCrash(on: [token.encoded, try Hex.decode(vectors.claims.encoded)], rounds: 5_000) { bytes in
            let token = try IdentityToken(bytes)
            #expect(token.encoded == bytes)
        }
    }

    private static func name(of error: IdentityTokenError) -> String {
        switch error {
        case .invalidFormat: "invalidFormat"
        case .invalidSignature: "invalidSignature"
        case .expired: "expired"
        case .notYetValid: "notYetValid"
        case .invalidAudience: "invalidAudience"
        case .wrongIssuer: "wrongIssuer"
        case .decryptionFailed: "decryptionFailed"
        case .policyViolation: "policyViolation"
        case .revoked: "revoked"
        case .invalidConfiguration: "invalidConfiguration"
        case .sealingFailed: "sealingFailed"
        }
    }
}
