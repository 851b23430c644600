internal import Bytes
internal import TestSupport
internal import Testing

@testable internal import BlindTokens

@Suite("Five steps to a token") struct CryptoUtilsTests {
    private var random = SplitMix64(seed: 3)

    @Test mutating func `a token goes through the five steps`() throws {
        let issuer = try Samples.issuer()
        let challenge = try Samples.challenge()
        let input = CryptoUtils.makeTokenInput(for: challenge, key: issuer.publicKey, using: &random)
        #expect(input.challengeDigest == challenge.challengeDigest)
        #expect(input.bytes.count == 98)
        let pending = try CryptoUtils.blind(input, for: issuer.publicKey)
        let request = CryptoUtils.requestBytes(of: pending)
        #expect(request.count == 259)
        let response = try issuer.response(to: TokenRequest(request))
        let token = try CryptoUtils.unblind(response.bytes, for: pending)
        #expect(token.input == input)
        #expect(token.bytes.count == 354)
        #expect(CryptoUtils.verify(token, with: issuer.publicKey))
        #expect(try Token(token.bytes) == token)
    }

    @Test mutating func `two requests for one input share no bytes but type and key`() throws {
        let issuer = try Samples.issuer()
        let input = CryptoUtils.makeTokenInput(for: try Samples.challenge(), key: issuer.publicKey, using: &random)
        let first = CryptoUtils.requestBytes(of: try CryptoUtils.blind(input, for: issuer.publicKey))
        let second = CryptoUtils.requestBytes(of: try CryptoUtils.blind(input, for: issuer.publicKey))
        #expect(first.prefix(3) == second.prefix(3))
        #expect(first != second)
        let equal = zip(first.dropFirst(3), second.dropFirst(3)).count { $0 == $1 }
        #expect(equal < 20, "\(equal) of 256 bytes are equal")
    }

    @Test mutating func `issuer and gateway see no common piece of eight bytes but the constants`() throws {
        let issuer = try Samples.issuer()
        var (issued, redeemed): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
        for _ in 0..<20 {
            let input = CryptoUtils.makeTokenInput(
                for: try Samples.challenge(),
                key: issuer.publicKey,
                using: &random
            )
            let pending = try CryptoUtils.blind(input, for: issuer.publicKey)
            let response = try issuer.response(to: pending.request)
            let token = try CryptoUtils.unblind(response.bytes, for: pending)
            for bytes in [pending.request.bytes, response.bytes] { issued.formUnion(pieces(of: bytes)) }
            redeemed.formUnion(pieces(of: token.bytes))
        }
        #expect(issued.isDisjoint(with: redeemed))
    }

    private func pieces(of bytes: [UInt8]) -> [[UInt8]] { (0...bytes.count - 8).map { [UInt8](bytes[$0..<$0 + 8]) } }

    @Test mutating func `a changed response gives no token`() throws {
        let issuer = try Samples.issuer()
        let input = CryptoUtils.makeTokenInput(for: try Samples.challenge(), key: issuer.publicKey, using: &random)
        let pending = try CryptoUtils.blind(input, for: issuer.publicKey)
        let response = try issuer.response(to: pending.request).bytes
        for place in [0, 100, 255] {
            #expect(throws: BlindTokenError.invalidSignature) {
                try CryptoUtils.unblind(response.changed(at: place), for: pending)
            }
        }
        for other in [response.dropLast(), [0] + response, []] {
            #expect(throws: BlindTokenError.wrongSize(.response, expected: 256, found: other.count)) {
                try CryptoUtils.unblind(Array(other), for: pending)
            }
        }
    }

    @Test mutating func `the response of another key gives no token`() throws {
        let (issuer, other) = (try Samples.issuer(0), try Samples.issuer(1))
        let input = CryptoUtils.makeTokenInput(for: try Samples.challenge(), key: issuer.publicKey, using: &random)
        #expect(throws: BlindTokenError.wrongKey) { try CryptoUtils.blind(input, for: other.publicKey) }
        let pending = try CryptoUtils.blind(input, for: issuer.publicKey)
        let message = [0] + pending.request.blindedMessage.dropFirst()
        let response = try other.blindSignature(for: message)
        #expect(throws: BlindTokenError.invalidSignature) { try CryptoUtils.unblind(response, for: pending) }
    }

    @Test mutating func `a token with any part changed does not verify`() throws {
        let issuer = try Samples.issuer()
        let token = try Samples.token(from: issuer, for: Samples.challenge(), using: &random)
        for place in [2, 33, 34, 65, 66, 97, 98, 200, 353] {
            let changed = try Token(token.bytes.changed(at: place))
            #expect(!CryptoUtils.verify(changed, with: issuer.publicKey))
        }
        #expect(!CryptoUtils.verify(token, with: try Samples.issuer(1).publicKey))
    }

    @Test mutating func `tokens of one input have one key in the spent set`() throws {
        let issuer = try Samples.issuer()
        let input = CryptoUtils.makeTokenInput(for: try Samples.challenge(), key: issuer.publicKey, using: &random)
        let tokens = try (0..<2).map { _ in
            let pending = try CryptoUtils.blind(input, for: issuer.publicKey)
            return try CryptoUtils.unblind(issuer.response(to: pending.request).bytes, for: pending)
        }
        #expect(tokens[0] != tokens[1])
        #expect(tokens.allSatisfy { CryptoUtils.verify($0, with: issuer.publicKey) })
        #expect(tokens[0].input.spendId == tokens[1].input.spendId)
    }
}
