internal import Bytes
internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import BlindTokens

/// RFC 9474, Appendix A.3: RSABSSA-SHA384-PSS-Deterministic with 4096 bits.
private struct BlindSignatureVectors: Decodable {
    struct Case: Decodable {
        let p, q, n, e, d, msg, prepared_msg, salt, encoded_msg, inv, blinded_msg, blind_sig, sig: String
    }

    let cases: [Case]
}

/// RFC 9578, Appendix B.2.
private struct IssuanceVectors: Decodable {
    struct Case: Decodable, CustomTestStringConvertible {
        let skS, pkS, token_challenge, nonce, blind, salt, token_request, token_response, token: String

        var testDescription: String { String(nonce.prefix(8)) }

        func issuer() throws -> TokenPrivateKey {
            let pem = String(decoding: try Hex.decode(skS), as: UTF8.self)
            let pkcs1 = try _RSA.Signing.PrivateKey(pemRepresentation: pem).derRepresentation
            return try TokenPrivateKey(pkcs1: SecretBytes(copying: pkcs1))
        }
    }

    let cases: [Case]

    static func load() throws -> [Case] { try vectors(named: "BlindTokens/rfc9578.json", as: Self.self).cases }
}

/// RFC 9577, Appendix A.1.
private struct TokenVectors: Decodable {
    struct Case: Decodable, CustomTestStringConvertible {
        let issuer_name, redemption_context, origin_info, nonce, token_key_id, token_authenticator_input: String

        var testDescription: String { String(token_authenticator_input.suffix(16)) }
    }

    struct Grease: Decodable {
        let token_authenticator_input: String
    }

    let tokens: [Case]
    let grease: [Grease]

    static func load() throws -> Self { try vectors(named: "BlindTokens/rfc9577-tokens.json") }
}

/// Vectors of the generic batch.
private struct BatchVectors: Decodable {
    struct Issuance: Decodable {
        let type, pkS, token_challenge, token: String
    }

    struct Case: Decodable, CustomTestStringConvertible {
        let types: [String]
        let issuance: [Issuance]
        let token_request, token_response: String

        var testDescription: String { types.joined(separator: ", ") }
    }

    let cases: [Case]

    static func load() throws -> [Case] { try vectors(named: "BlindTokens/batched-tokens.json", as: Self.self).cases }
}

@Suite("Blind token vectors") struct VectorTests {
    @Test func `every step of the blind signature of RFC 9474 is reproduced`() throws {
        let loaded: BlindSignatureVectors = try vectors(named: "BlindTokens/rfc9474.json")
        let sample = try #require(loaded.cases.first)
        let oracle = ModularOracle(modulus: try Hex.decode(sample.n))
        let (inverse, blinded) = (try Hex.decode(sample.inv), try Hex.decode(sample.blinded_msg))
        let encoded = PSSEncoding.encode(
            try Hex.decode(sample.prepared_msg),
            salt: try Hex.decode(sample.salt),
            modulusByteCount: 512
        )
        #expect(sample.prepared_msg == sample.msg)
        #expect(Hex.encode(encoded) == sample.encoded_msg)
        // blinded_msg = encoded_msg * r^e, and inv is the inverse of r.
        #expect(oracle.product(blinded, oracle.power(inverse, 65_537)) == encoded)

        let key = try _RSA.BlindSigning.PrivateKey<SHA384>(
            n: Hex.decode(sample.n),
            e: Hex.decode(sample.e),
            d: Hex.decode(sample.d),
            p: Hex.decode(sample.p),
            q: Hex.decode(sample.q),
            parameters: .RSABSSA_SHA384_PSS_Deterministic
        )
        let blindSignature = [UInt8](try key.blindSignature(for: blinded).rawRepresentation)
        #expect(Hex.encode(blindSignature) == sample.blind_sig)
        let signature = oracle.product(blindSignature, inverse)
        #expect(Hex.encode(signature) == sample.sig)
        #expect(oracle.power(signature, 65_537) == encoded)
        let message = key.publicKey.prepare(try Hex.decode(sample.msg))
        let library = _RSA.Signing.RSASignature(rawRepresentation: signature)
        #expect(key.publicKey.isValidSignature(library, for: message))
    }

    @Test(arguments: try IssuanceVectors.load())
    private func `every field of an issuance of RFC 9578 is reproduced`(sample: IssuanceVectors.Case) throws {
        let issuer = try sample.issuer()
        #expect(Hex.encode(issuer.publicKey.subjectPublicKeyInfo) == sample.pkS)
        let key = try TokenPublicKey(subjectPublicKeyInfo: Hex.decode(sample.pkS))
        #expect(key == issuer.publicKey)
        #expect(key.subjectPublicKeyInfo.count == 342)

        let challenge = try TokenChallenge(Hex.decode(sample.token_challenge))
        #expect(Hex.encode(challenge.bytes) == sample.token_challenge)
        let token = try Token(Hex.decode(sample.token))
        #expect(Hex.encode(token.bytes) == sample.token)
        #expect(Hex.encode(token.input.nonce) == sample.nonce)
        #expect(token.input.challengeDigest == challenge.challengeDigest)
        #expect(token.input.keyId == key.keyId)

        let oracle = ModularOracle(modulus: key.modulus)
        let blind = try Hex.decode(sample.blind)
        let encoded = PSSEncoding.encode(
            token.input.bytes,
            salt: try Hex.decode(sample.salt),
            modulusByteCount: 256
        )
        let request = try TokenRequest(
            truncatedKeyId: key.keyId.truncated,
            blindedMessage: oracle.product(encoded, oracle.power(blind, 65_537))
        )
        #expect(Hex.encode(request.bytes) == sample.token_request)
        #expect(try TokenRequest(Hex.decode(sample.token_request)) == request)
        let response = try issuer.response(to: request)
        #expect(Hex.encode(response.bytes) == sample.token_response)
        #expect(oracle.product(token.authenticator, blind) == response.bytes)
        #expect(CryptoUtils.verify(token, with: key))
    }

    @Test(arguments: try TokenVectors.load().tokens)
    private func `a challenge of RFC 9577 has the digest of its token`(sample: TokenVectors.Case) throws {
        let challenge = try TokenChallenge(
            issuerName: String(decoding: Hex.decode(sample.issuer_name), as: UTF8.self),
            redemptionContext: Hex.decode(sample.redemption_context),
            originInfo: String(decoding: Hex.decode(sample.origin_info), as: UTF8.self)
        )
        #expect(try TokenChallenge(challenge.bytes) == challenge)
        let input = try TokenInput(Hex.decode(sample.token_authenticator_input))
        #expect(Hex.encode(input.nonce) == sample.nonce)
        #expect(input.challengeDigest == challenge.challengeDigest)
        #expect("\(input.keyId)" == sample.token_key_id)
        #expect(Hex.encode(input.bytes) == sample.token_authenticator_input)
    }

    @Test func `a token of the reserved type of RFC 9577 is refused`() throws {
        let sample = try #require(TokenVectors.load().grease.first)
        let bytes = try Hex.decode(sample.token_authenticator_input)
        #expect(throws: BlindTokenError.unsupportedType(0)) { try TokenInput(bytes) }
        #expect(throws: BlindTokenError.unsupportedType(0)) { try Token(bytes) }
    }

    @Test(arguments: try BatchVectors.load())
    private func `a batch is read as its draft encodes it`(sample: BatchVectors.Case) throws {
        let (request, response) = (try Hex.decode(sample.token_request), try Hex.decode(sample.token_response))
        guard sample.types.allSatisfy({ $0 == "0002" }) else {
            #expect(throws: BlindTokenError.self) { try TokenBatchRequest(request) }
            #expect(throws: BlindTokenError.self) { try TokenBatchResponse(response) }
            return
        }
        let requests = try TokenBatchRequest(request)
        #expect(requests.requests.count == sample.issuance.count)
        #expect(requests.bytes == request)
        let responses = try TokenBatchResponse(response)
        #expect(responses.responses.count == sample.issuance.count)
        #expect(responses.bytes == response)
        for (request, issuance) in zip(requests.requests, sample.issuance) {
            let key = try TokenPublicKey(subjectPublicKeyInfo: Hex.decode(issuance.pkS))
            #expect(request.truncatedKeyId == key.keyId.truncated)
            #expect(CryptoUtils.verify(try Token(Hex.decode(issuance.token)), with: key))
        }
    }
}
