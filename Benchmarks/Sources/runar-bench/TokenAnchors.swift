internal import BlindTokens
internal import Crypto
internal import CryptoExtras
internal import Platform

/// The operations on tokens that cost most, by the library alone and by `BlindTokens`, on one core.
enum TokenAnchors {
    private typealias LibraryKey = _RSA.BlindSigning.PrivateKey<SHA384>

    /// The parts of a measurement, in which all operations take turns.
    private static let sliceCount = 10
    /// The number of verifications that take about as long as one signature.
    private static let verificationsPerSignature = 30

    /// Measures `count` blind signatures, and the other operations for about as long each.
    static func measure(count: Int) throws {
        let key = try LibraryKey(keySize: .bits2048, parameters: .RSABSSA_SHA384_PSS_Deterministic)
        let numbers = try key.publicKey.getKeyPrimitives()
        let tokenKey = try TokenPublicKey(modulus: [UInt8](numbers.modulus), exponent: [UInt8](numbers.publicExponent))
        let now = SystemProcess.wallSeconds
        let (issuer, exit) = (TokenServers.host, TokenServers.exit)
        let verifier = try TokenVerifier(issuerName: issuer, originInfo: exit, keys: [.init(tokenKey)], at: now)
        let challenge = try ExitEpoch(at: now).challenge(issuerName: issuer, originInfo: exit)
        var (signing, blinding, unblinding) = (ProcessorRate(), ProcessorRate(), ProcessorRate())
        var (libraryVerifying, verifying) = (ProcessorRate(), ProcessorRate())
        var random = SystemRandom()
        for _ in 0..<sliceCount {
            let numbers = 0..<max(count / sliceCount, 1)
            var pending: [PendingToken] = []
            var signatures: [[UInt8]] = []
            var tokens: [Token] = []
            try blinding.measure(numbers) { _ in
                let input = CryptoUtils.makeTokenInput(for: challenge, key: tokenKey, using: &random)
                pending.append(try CryptoUtils.blind(input, for: tokenKey))
            }
            try signing.measure(numbers) { number in
                let signature = try key.blindSignature(for: pending[number].request.blindedMessage)
                signatures.append([UInt8](signature.rawRepresentation))
            }
            try unblinding.measure(numbers) { number in
                tokens.append(try CryptoUtils.unblind(signatures[number], for: pending[number]))
            }
            let bytes = tokens.map(\.bytes)
            let prepared = tokens.map { token in
                (
                    _RSA.Signing.RSASignature(rawRepresentation: token.authenticator),
                    key.publicKey.prepare(token.input.bytes)
                )
            }
            let verifications = 0..<(numbers.count * verificationsPerSignature)
            let publicKey = key.publicKey
            try libraryVerifying.measure(verifications) { number in
                let (signature, message) = prepared[number % prepared.count]
                guard publicKey.isValidSignature(signature, for: message) else { throw BenchError("not verified") }
            }
            try verifying.measure(verifications) { number in
                _ = try verifier.verify(bytes[number % bytes.count], at: now)
            }
        }
        Output.result([
            "signatures": signing.perSecond, "libraryVerifications": libraryVerifying.perSecond,
            "verifications": verifying.perSecond, "clientMilliseconds": blinding.milliseconds + unblinding.milliseconds,
            "verifyMilliseconds": verifying.milliseconds,
        ])
    }
}
