internal import Bytes
internal import Crypto
internal import Foundation
internal import TestSupport

@testable internal import BlindTokens

/// Fixed keys and names, since the generation of an RSA key is slow.
enum Samples {
    /// A key in the stored form of an issuer, with the values that another implementation derived.
    struct Key: Decodable {
        let private_key: String
        let general_use_key: String
        let subject_public_key_info: String
        let key_id: String
    }

    private struct Keys: Decodable {
        let keys: [Key]
    }

    static let issuerName = "issuer.example"
    static let originInfo = "exit.example"
    /// A time in the middle of an epoch.
    static let now = ExitEpoch.lengthSeconds * 2_900 + 300_000

    static func keys() throws -> [Key] { try vectors(named: "BlindTokens/issuer-keys.json", as: Keys.self).keys }

    static func issuer(_ index: Int = 0) throws -> TokenPrivateKey {
        try TokenPrivateKey(pemRepresentation: keys()[index].private_key)
    }

    static func challenge(
        at now: UInt64 = now,
        issuer: String = issuerName,
        origin: String = originInfo
    ) throws -> TokenChallenge {
        try ExitEpoch(at: now).challenge(issuerName: issuer, originInfo: origin)
    }

    /// A token that went through all five steps.
    static func token(
        from issuer: TokenPrivateKey,
        for challenge: TokenChallenge,
        using random: inout some RandomNumberGenerator
    ) throws -> Token {
        let input = CryptoUtils.makeTokenInput(for: challenge, key: issuer.publicKey, using: &random)
        let pending = try CryptoUtils.blind(input, for: issuer.publicKey)
        let response = try issuer.response(to: TokenRequest(CryptoUtils.requestBytes(of: pending)))
        return try CryptoUtils.unblind(response.bytes, for: pending)
    }

    /// A verifier of the sample exit.
    static func verifier(_ keys: [TokenVerifier.AcceptedKey], at now: UInt64 = now) throws -> TokenVerifier {
        try TokenVerifier(issuerName: issuerName, originInfo: originInfo, keys: keys, at: now)
    }

    /// A token of the form that a wallet needs; its signature is random bytes.
    static func unsignedToken(
        for challenge: TokenChallenge,
        keyId: TokenKeyId,
        using random: inout SplitMix64
    ) throws -> Token {
        let input = TokenInput(challengeDigest: challenge.challengeDigest, keyId: keyId, using: &random)
        return try Token(input: input, authenticator: random.bytes(count: 256))
    }
}

extension [UInt8] {
    /// The bytes with one bit changed at one place.
    func changed(at place: Int) -> [UInt8] {
        var bytes = self
        bytes[place] ^= 0x01
        return bytes
    }
}

extension [UInt8] {
    /// The SHA-256 of the bytes.
    var sha256: [UInt8] { [UInt8](SHA256.hash(data: self)) }
}
