internal import Bytes
internal import TestSupport
internal import Testing

@testable internal import BlindTokens

@Suite("Damaged input of blind tokens", .timeLimit(.minutes(5))) struct NeverCrashTests {
    private func token() throws -> Token {
        var random = SplitMix64(seed: 6)
        return try Samples.unsignedToken(
            for: Samples.challenge(),
            keyId: Samples.issuer().publicKey.keyId,
            using: &random
        )
    }

    @Test func `messages`() throws {
        let request = try TokenRequest(truncatedKeyId: 1, blindedMessage: [UInt8](repeating: 3, count: 256))
        let response = try TokenResponse([UInt8](repeating: 4, count: 256))
        neverCrash(on: [try Samples.challenge().bytes]) { _ = try TokenChallenge($0).bytes }
        neverCrash(on: [request.bytes]) { _ = try TokenRequest($0) }
        neverCrash(on: [try token().bytes]) { _ = try Token($0).input.spendId }
        neverCrash(on: [try TokenBatchRequest([request, request]).bytes]) { _ = try TokenBatchRequest($0) }
        neverCrash(on: [try TokenBatchResponse([response, nil, response]).bytes]) { _ = try TokenBatchResponse($0) }
    }

    @Test func `keys`() throws {
        let issuer = try Samples.issuer()
        neverCrash(on: [issuer.publicKey.subjectPublicKeyInfo]) { _ = try TokenPublicKey(subjectPublicKeyInfo: $0) }
        neverCrash(on: [issuer.derRepresentation.withBytes { $0 }], rounds: 200) { bytes in
            _ = try TokenPrivateKey(derRepresentation: SecretBytes(copying: bytes))
        }
        neverCrash(onTexts: [issuer.pemRepresentation], rounds: 200) { _ = try TokenPrivateKey(pemRepresentation: $0) }
    }

    @Test func `directories and headers`() throws {
        let key = try Samples.issuer().publicKey
        let directory = try IssuerDirectory(issuerRequestURI: "/", keys: [IssuerDirectory.Key(key, notBefore: 7)])
        neverCrash(on: [directory.json]) { _ = try IssuerDirectory(json: $0) }
        let challenge = PrivateTokenChallenge(try Samples.challenge(), key: key, maxAge: 1)
        neverCrash(onTexts: [
            PrivateTokenHeader.authenticateValue([challenge, challenge]),
            "Basic realm=\"a\\\"b\", Negotiate YQ==, PrivateToken challenge=AAIA,token-key=AA==,max-age=1",
        ]) { _ = try PrivateTokenHeader.challenges(inAuthenticate: $0) }
        neverCrash(onTexts: [PrivateTokenHeader.authorizationValue(try token())]) { text in
            _ = try PrivateTokenHeader.tokenBytes(inAuthorization: text)
        }
    }

    @Test func `tokens at a gateway`() throws {
        let verifier = try Samples.verifier([TokenVerifier.AcceptedKey(try Samples.issuer().publicKey)])
        neverCrash(on: [try token().bytes]) { _ = try verifier.verify($0, at: Samples.now) }
    }

    @Test func `stored wallets`() throws {
        var random = SplitMix64(seed: 7)
        var exit = try WalletExit(allowance: 3)
        exit.list(using: &random)
        exit.refill(using: &random)
        neverCrash(on: [exit.wallet.snapshot]) { bytes in
            var wallet = try TokenWallet(snapshot: bytes)
            _ = wallet.handle(.timeReached, at: Samples.now, using: &random)
        }
        for time in [0, UInt64.max] {
            var wallet = exit.wallet
            _ = wallet.handle(.timeReached, at: time, using: &random)
        }
    }
}
