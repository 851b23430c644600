internal import Bytes
internal import Crypto
internal import CryptoExtras
internal import Essentials

/// The public key of an issuer for tokens of type 0x0002: RSA with 2048 bits.
///
/// Its encoding is a SubjectPublicKeyInfo with id-RSASSA-PSS (RFC 9578, section 6.5), and never one with rsaEncryption,
/// whose hash is another id.
public struct TokenPublicKey: Sendable {
    /// The most bytes of the public exponent.
    private static let exponentByteLimit = 4

    /// The DER of the SubjectPublicKeyInfo; 342 bytes with the exponent 65537.
    public let subjectPublicKeyInfo: [UInt8]
    /// The id: the SHA-256 of the SubjectPublicKeyInfo.
    public let keyId: TokenKeyId
    let modulus: [UInt8]
    let exponent: [UInt8]
    private let key: _RSA.BlindSigning.PublicKey<SHA384>

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - modulus: 256 bytes, most significant first; the first bit and the last one are set.
    ///   - exponent: An odd number from 3 to 2^32 - 1, most significant byte first, without leading zeros.
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` for other numbers.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(BlindTokenError) {
        guard modulus.count == BlindRSA.modulusByteCount, modulus[0] >= 0x80, modulus.last.map({ $0 & 1 }) == 1 else {
            throw .malformed(.publicKey, reason: "its modulus is not an odd number of 2048 bits")
        }
        guard let last = exponent.last, exponent[0] != 0, exponent.count <= Self.exponentByteLimit, last & 1 == 1,
            exponent != [1]
        else {
            throw .malformed(.publicKey, reason: "its exponent is not an odd number from 3 to 2^32 - 1")
        }
        do {
            key = try _RSA.BlindSigning.PublicKey(
                n: modulus,
                e: exponent,
                parameters: .RSABSSA_SHA384_PSS_Deterministic
            )
        } catch {
            throw .malformed(.publicKey, reason: "the system's cryptography refuses its numbers")
        }
        self.modulus = modulus
        self.exponent = exponent
        subjectPublicKeyInfo = Self.encode(modulus, exponent)
        keyId = TokenKeyId(digest: SHA256.hash(data: subjectPublicKeyInfo))
    }

    /// Reads a SubjectPublicKeyInfo: strict DER with exactly the AlgorithmIdentifier of RFC 9578, section 6.5.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)``.
    public init(subjectPublicKeyInfo: [UInt8]) throws(BlindTokenError) {
        let numbers: (modulus: [UInt8], exponent: [UInt8])
        do throws(BytesError) {
            var reader = ByteReader(subjectPublicKeyInfo)
            var info = ByteReader(try DERElement.read(DERElement.sequence, from: &reader))
            try reader.finish()
            guard try info.readBytes(count: DERElement.rsassaPSS.count) == DERElement.rsassaPSS else {
                throw .invalidValue("an algorithm other than RSASSA-PSS with SHA-384 and a salt of 48 bytes")
            }
            var bits = ByteReader(try DERElement.read(DERElement.bitString, from: &info))
            try info.finish()
            guard try bits.readUInt8() == 0 else { throw .invalidValue("unused bits in the key") }
            var numberReader = ByteReader(try DERElement.read(DERElement.sequence, from: &bits))
            try bits.finish()
            numbers.modulus = try DERElement.readPositive(from: &numberReader)
            numbers.exponent = try DERElement.readPositive(from: &numberReader)
            try numberReader.finish()
        } catch {
            throw .malformed(.publicKey, reason: error.description)
        }
        try self.init(modulus: numbers.modulus, exponent: numbers.exponent)
    }

    /// Whether the blinded message of a request is a number below the modulus, as a signature needs (RFC 9474, section 4.3).
    public func admits(_ request: TokenRequest) -> Bool { isBelowModulus(request.blindedMessage) }

    /// Whether a message of 256 bytes is a number below the modulus.
    func isBelowModulus(_ message: [UInt8]) -> Bool { message.lexicographicallyPrecedes(modulus) }

    /// Whether `signature`, 256 bytes, is one of the key over `input`.
    ///
    /// The encoding of the message is EMSA-PSS with a hash: a number that only fits the RSA equation is refused.
    func isValid(_ signature: [UInt8], for input: TokenInput) -> Bool {
        guard signature.count == BlindRSA.modulusByteCount else { return false }
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature),
            for: key.prepare(input.bytes)
        )
    }

    /// Returns a blinded message, and the value that unblinds its signature.
    func blind(
        _ input: TokenInput
    ) throws(BlindTokenError) -> (message: [UInt8], inverse: _RSA.BlindSigning.BlindingInverse) {
        do {
            let result = try key.blind(key.prepare(input.bytes))
            return ([UInt8](result.blindedMessage), result.inverse)
        } catch {
            throw .cryptographyFailed
        }
    }

    /// Returns the signature over `input`, which is verified.
    func unblind(
        _ response: TokenResponse,
        for input: TokenInput,
        with inverse: _RSA.BlindSigning.BlindingInverse
    ) throws(BlindTokenError) -> [UInt8] {
        do {
            let signature = try key.finalize(
                _RSA.BlindSigning.BlindSignature(rawRepresentation: response.bytes),
                for: key.prepare(input.bytes),
                blindingInverse: inverse
            )
            return [UInt8](signature.rawRepresentation)
        } catch {
            throw .invalidSignature
        }
    }

    private static func encode(_ modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
        let numbers = DERElement.encode(positive: modulus) + DERElement.encode(positive: exponent)
        let key = DERElement.encode(DERElement.sequence, numbers)
        return DERElement.encode(
            DERElement.sequence,
            DERElement.rsassaPSS + DERElement.encode(DERElement.bitString, [0] + key)
        )
    }
}

extension TokenPublicKey: Hashable {
    /// Whether both have the same encoding.
    public static func == (left: TokenPublicKey, right: TokenPublicKey) -> Bool {
        left.subjectPublicKeyInfo == right.subjectPublicKeyInfo
    }

    /// Hashes the encoding.
    public func hash(into hasher: inout Hasher) { hasher.combine(subjectPublicKeyInfo) }
}
