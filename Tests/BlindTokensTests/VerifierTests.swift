internal import Bytes
internal import Failures
internal import TestSupport
internal import Testing

@testable internal import BlindTokens

@Suite("Exit epoch") struct ExitEpochTests {
    @Test func `an epoch has 7 days and its number in the context`() throws {
        #expect(ExitEpoch(at: 604_799) == ExitEpoch(number: 0))
        #expect(ExitEpoch(at: 604_800) == ExitEpoch(number: 1))
        let message = [UInt8]("runar/exit-epoch/v1".utf8) + [0, 0, 0, 0, 0, 0, 0x0B, 0x54]
        #expect(ExitEpoch(number: 0x0B54).redemptionContext == message.sha256)
        #expect(ExitEpoch(number: 3).end == 4 * 604_800)
        #expect(ExitEpoch(number: 3).graceEnd == 4 * 604_800 + 86_400)
    }

    @Test func `the epoch before is accepted for 24 hours`() throws {
        let start = ExitEpoch.lengthSeconds * 10
        let both = [ExitEpoch(number: 10), ExitEpoch(number: 9)]
        #expect(ExitEpoch.accepted(at: start - 1) == [ExitEpoch(number: 9)])
        #expect(ExitEpoch.accepted(at: start) == both)
        #expect(ExitEpoch.accepted(at: start + 86_399) == both)
        #expect(ExitEpoch.accepted(at: start + 86_400) == [ExitEpoch(number: 10)])
        #expect(ExitEpoch.accepted(at: 0) == [ExitEpoch(number: 0)])
    }

    @Test func `numbers beyond the time that can be represented do not trap`() {
        #expect(ExitEpoch(number: .max).end == .max)
        #expect(ExitEpoch(number: .max / 2).graceEnd == .max)
        #expect(ExitEpoch.accepted(at: .max).count >= 1)
    }
}

@Suite("Verification at the gateway") struct VerifierTests {
    private var random = SplitMix64(seed: 5)

    private mutating func token(
        issuer: Int = 0,
        at now: UInt64 = Samples.now,
        issuerName: String = Samples.issuerName,
        origin: String = Samples.originInfo
    ) throws -> Token {
        let challenge = try Samples.challenge(at: now, issuer: issuerName, origin: origin)
        return try Samples.token(from: Samples.issuer(issuer), for: challenge, using: &random)
    }

    private func verifier(_ keys: Int...) throws -> TokenVerifier {
        try Samples.verifier(keys.map { TokenVerifier.AcceptedKey(try Samples.issuer($0).publicKey) })
    }

    @Test mutating func `a token of the present epoch is accepted`() throws {
        let token = try token()
        let verified = try verifier(0).verify(token.bytes, at: Samples.now)
        #expect(verified.token == token)
        #expect(verified.epoch == ExitEpoch(at: Samples.now))
    }

    @Test mutating func `a token of the epoch before is accepted during its grace alone`() throws {
        let end = ExitEpoch(at: Samples.now).end
        let (verifier, token) = (try verifier(0), try token())
        for now in [end - 1, end, end + 86_399] {
            #expect(try verifier.verify(token.bytes, at: now).epoch == ExitEpoch(at: Samples.now))
        }
        for now in [end + 86_400, end + 3 * ExitEpoch.lengthSeconds, ExitEpoch(at: Samples.now).end - 604_801] {
            #expect(throws: TokenRefusal.otherEpoch) { try verifier.verify(token.bytes, at: now) }
        }
    }

    @Test func `the challenges of the accepted epochs are computed once`() throws {
        let end = ExitEpoch(at: Samples.now).end
        for now in [0, Samples.now, end - 1, end, end + 86_399, end + 86_400, .max] {
            let digests = try Samples.verifier([], at: now).digests
            #expect(Set(digests.keys) == Set(ExitEpoch.accepted(at: now)))
            for (epoch, digest) in digests {
                let challenge = try epoch.challenge(
                    issuerName: Samples.issuerName,
                    originInfo: Samples.originInfo
                )
                #expect(digest == challenge.challengeDigest)
            }
        }
    }

    @Test mutating func `a verifier of another epoch accepts and refuses the same tokens`() throws {
        let key = TokenVerifier.AcceptedKey(try Samples.issuer().publicKey)
        let (end, token) = (ExitEpoch(at: Samples.now).end, try token().bytes)
        let other = try self.token(origin: "other.example").bytes
        for made in [0, Samples.now - ExitEpoch.lengthSeconds, Samples.now, end, end + 86_400, .max] {
            let verifier = try Samples.verifier([key], at: made)
            for now in [Samples.now, end, end + 86_399] {
                #expect(try verifier.verify(token, at: now).epoch == ExitEpoch(at: Samples.now))
                #expect(throws: TokenRefusal.otherChallenge) { try verifier.verify(other, at: now) }
            }
            for now in [Samples.now - ExitEpoch.lengthSeconds, end + 86_400] {
                #expect(throws: TokenRefusal.otherEpoch) { try verifier.verify(token, at: now) }
            }
        }
    }

    @Test mutating func `a token for another issuer, exit or challenge is refused`() throws {
        let verifier = try verifier(0)
        let tokens = [
            try token(issuerName: "other.example"), try token(origin: "other.example"), try token(origin: ""),
            try token(at: Samples.now + 60 * ExitEpoch.lengthSeconds),
        ]
        for token in tokens {
            #expect(throws: TokenRefusal.otherChallenge) { try verifier.verify(token.bytes, at: Samples.now) }
        }
    }

    @Test mutating func `a token of another key is refused`() throws {
        let token = try token(issuer: 1)
        #expect(throws: TokenRefusal.otherKey) { try verifier(0).verify(token.bytes, at: Samples.now) }
        #expect(throws: Never.self) { try verifier(0, 1).verify(token.bytes, at: Samples.now) }
    }

    @Test mutating func `a replaced key is accepted until its overlap ends`() throws {
        let token = try token()
        let keys = [
            TokenVerifier.AcceptedKey(try Samples.issuer(1).publicKey),
            TokenVerifier.AcceptedKey(try Samples.issuer(0).publicKey, acceptedUntil: Samples.now + 10),
        ]
        let verifier = try Samples.verifier(keys)
        #expect(throws: Never.self) { try verifier.verify(token.bytes, at: Samples.now + 9) }
        #expect(throws: TokenRefusal.otherKey) { try verifier.verify(token.bytes, at: Samples.now + 10) }
    }

    @Test mutating func `a token that is too short or too long is neither padded nor cut`() throws {
        let (verifier, bytes) = (try verifier(0), try token().bytes)
        let others = [[], [0], [0, 2], [UInt8](bytes.dropLast()), bytes + [0], [0] + bytes, [0, 1], bytes + bytes]
        for other in others {
            #expect(throws: TokenRefusal.wrongSize) { try verifier.verify(other, at: Samples.now) }
        }
        #expect(TokenRefusal.wrongSize.failureCode.httpStatus == 422)
    }

    @Test mutating func `a token of another type is refused`() throws {
        let bytes = try token().bytes
        #expect(throws: TokenRefusal.wrongType) { try verifier(0).verify(bytes.changed(at: 1), at: Samples.now) }
        #expect(TokenRefusal.wrongType.failureCode.httpStatus == 422)
    }

    @Test mutating func `a token with any byte changed is refused by the first check that fails`() throws {
        let (verifier, bytes) = (try verifier(0), try token().bytes)
        for place in bytes.indices {
            let expected: TokenRefusal =
                switch place {
                case 0..<2: .wrongType
                case 34..<66: .otherChallenge
                case 66..<98: .otherKey
                default: .forged
                }
            #expect(throws: expected) { try verifier.verify(bytes.changed(at: place), at: Samples.now) }
        }
    }

    @Test func `a refusal maps to 401 or 422`() {
        for refusal in TokenRefusal.allCases {
            let isMalformed = [.wrongSize, .wrongType].contains(refusal)
            #expect(refusal.failureCode.httpStatus == (isMalformed ? 422 : 401))
        }
    }

    @Test mutating func `a signature that was chosen first forges no token`() throws {
        // Without an encoding of the message, signature^e is a message that the signature fits.
        let key = try Samples.issuer().publicKey
        let verifier = try verifier(0)
        let oracle = ModularOracle(modulus: key.modulus)
        let input = try token().input.bytes
        var signatures = (0..<20).map { _ in [0] + random.bytes(count: 255) }
        signatures += [[UInt8](repeating: 0, count: 256), [UInt8](repeating: 0, count: 255) + [1]]
        signatures.append(key.modulus.changed(at: 255))
        for signature in signatures {
            let message = oracle.power(signature, 65_537)
            #expect(throws: TokenRefusal.wrongSize) { try verifier.verify(message + signature, at: Samples.now) }
            #expect(throws: TokenRefusal.forged) { try verifier.verify(input + signature, at: Samples.now) }
            // The message itself as the token, with the fields that are checked before the signature.
            let token = input.prefix(2) + message.prefix(32) + input.dropFirst(34) + signature
            #expect(throws: TokenRefusal.forged) { try verifier.verify([UInt8](token), at: Samples.now) }
        }
    }

    @Test mutating func `a message that is signed raw forges no token`() throws {
        // The issuer signs any number below the modulus: a hash without PSS, and an input that is padded with zeros.
        let issuer = try Samples.issuer()
        let input = try token().input
        let messages = [
            [UInt8](repeating: 0, count: 256 - 32) + input.bytes.sha256,
            [UInt8](repeating: 0, count: 256 - 98) + input.bytes,
            [0] + input.bytes + [UInt8](repeating: 0, count: 157),
        ]
        for message in messages {
            let signature = try issuer.blindSignature(for: message)
            #expect(throws: TokenRefusal.forged) { try verifier(0).verify(input.bytes + signature, at: Samples.now) }
        }
    }

    @Test mutating func `the product of two tokens is no third token`() throws {
        let key = try Samples.issuer().publicKey
        let (first, second) = (try token(), try token())
        let product = ModularOracle(modulus: key.modulus).product(first.authenticator, second.authenticator)
        for input in [first.input, second.input] {
            #expect(throws: TokenRefusal.forged) { try verifier(0).verify(input.bytes + product, at: Samples.now) }
        }
    }
}
