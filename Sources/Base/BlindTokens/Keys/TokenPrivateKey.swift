public import Bytes
internal import Crypto
internal import CryptoExtras
internal import Essentials

/// The private key of an issuer for tokens of type 0x0002: RSA with 2048 bits.
///
/// A blind signer applies its key to any number that it receives, so the key must have no other use. Its stored form is
/// a PKCS #8 structure whose algorithm is RSASSA-PSS (RFC 4055), which programs that decrypt or sign with RSA keys
/// refuse; a key that is marked for general use is refused here.
public struct TokenPrivateKey: Sendable {
    /// The public key.
    public let publicKey: TokenPublicKey
    private let key: _RSA.BlindSigning.PrivateKey<SHA384>

    private static let pemLabel = "PRIVATE KEY"
    private static let pemColumns = 64
    private static let pemByteLimit = 16 << 10

    /// Generates a key, which takes some tenths of a second.
    ///
    /// - Throws: ``BlindTokenError/cryptographyFailed``.
    public init() throws(BlindTokenError) {
        do {
            key = try _RSA.BlindSigning.PrivateKey(
                keySize: .bits2048,
                parameters: .RSABSSA_SHA384_PSS_Deterministic
            )
        } catch {
            throw .cryptographyFailed
        }
        publicKey = try Self.publicKey(of: key)
    }

    /// Reads the DER of ``derRepresentation``.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)``.
    public init(derRepresentation: SecretBytes) throws(BlindTokenError) {
        try self.init(pkcs1: try derRepresentation.withBytes(Self.pkcs1))
    }

    /// Reads the text of ``pemRepresentation``, with nothing but white space around it.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)``.
    public init(pemRepresentation text: String) throws(BlindTokenError) {
        guard text.utf8.count <= Self.pemByteLimit else {
            throw .malformed(.privateKey, reason: "it has more than \(Self.pemByteLimit) bytes")
        }
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.count > 2, lines.first == "-----BEGIN \(Self.pemLabel)-----",
            lines.last == "-----END \(Self.pemLabel)-----"
        else {
            throw .malformed(.privateKey, reason: "it is not one PEM block \"\(Self.pemLabel)\"")
        }
        do {
            var der = try Base64.decode(lines.dropFirst().dropLast().joined())
            try self.init(derRepresentation: SecretBytes(consuming: &der))
        } catch let error as BlindTokenError {
            throw error
        } catch {
            throw .malformed(.privateKey, reason: "\(error)")
        }
    }

    /// Reads an RSAPrivateKey of RFC 8017.
    init(pkcs1: SecretBytes) throws(BlindTokenError) {
        do {
            key = try pkcs1.withBytes { bytes in
                try _RSA.BlindSigning.PrivateKey(
                    derRepresentation: bytes,
                    parameters: .RSABSSA_SHA384_PSS_Deterministic
                )
            }
        } catch {
            throw .malformed(.privateKey, reason: "it is not an RSA key of at least 2048 bits")
        }
        publicKey = try Self.publicKey(of: key)
    }

    /// The PKCS #8 structure in DER, with the algorithm RSASSA-PSS.
    public var derRepresentation: SecretBytes {
        var pkcs1 = [UInt8](key.derRepresentation)
        defer { pkcs1.wipe() }
        var content: [UInt8] = DERElement.encode(DERElement.integer, [0]) + DERElement.rsassaPSS
        content += DERElement.encode(DERElement.octetString, pkcs1)
        defer { content.wipe() }
        var der = DERElement.encode(DERElement.sequence, content)
        return SecretBytes(consuming: &der)
    }

    /// The PKCS #8 structure as a PEM text (RFC 7468) for a file that only the issuer reads.
    public var pemRepresentation: String {
        var rest = derRepresentation.withBytes { Base64.encode($0) }[...]
        var text = "-----BEGIN \(Self.pemLabel)-----\n"
        while !rest.isEmpty {
            text += rest.prefix(Self.pemColumns) + "\n"
            rest = rest.dropFirst(Self.pemColumns)
        }
        return text + "-----END \(Self.pemLabel)-----\n"
    }

    /// Signs a blinded message (RFC 9474, section 4.3), and checks the result with the public key.
    ///
    /// The blinded message has exactly 256 bytes: it is neither padded nor cut.
    ///
    /// - Throws: ``BlindTokenError/wrongSize(_:expected:found:)``, ``BlindTokenError/messageOutOfRange`` or
    ///   ``BlindTokenError/cryptographyFailed``.
    public func blindSignature(for blindedMessage: [UInt8]) throws(BlindTokenError) -> [UInt8] {
        try requireSize(blindedMessage, BlindRSA.modulusByteCount, .blindedMessage)
        guard publicKey.isBelowModulus(blindedMessage) else { throw .messageOutOfRange }
        do {
            return [UInt8](try key.blindSignature(for: blindedMessage).rawRepresentation)
        } catch {
            throw .cryptographyFailed
        }
    }

    /// Answers a request, which must name this key.
    ///
    /// - Throws: ``BlindTokenError/wrongKey`` for a request with another truncated id, and the errors of
    ///   ``blindSignature(for:)``.
    public func response(to request: TokenRequest) throws(BlindTokenError) -> TokenResponse {
        guard request.truncatedKeyId == publicKey.keyId.truncated else { throw .wrongKey }
        return try TokenResponse(blindSignature(for: request.blindedMessage))
    }

    private static func publicKey(
        of key: _RSA.BlindSigning.PrivateKey<SHA384>
    ) throws(BlindTokenError) -> TokenPublicKey {
        guard let numbers = try? key.publicKey.getKeyPrimitives() else {  // the error below names the subject
            throw .cryptographyFailed
        }
        return try TokenPublicKey(modulus: [UInt8](numbers.modulus), exponent: [UInt8](numbers.publicExponent))
    }

    private static func pkcs1(in der: [UInt8]) throws(BlindTokenError) -> SecretBytes {
        do throws(BytesError) {
            var reader = ByteReader(der)
            var info = ByteReader(try DERElement.read(DERElement.sequence, from: &reader))
            try reader.finish()
            guard try [UInt8](DERElement.read(DERElement.integer, from: &info)) == [0] else {
                throw .invalidValue("a version other than 0")
            }
            guard try info.readBytes(count: DERElement.rsassaPSS.count) == DERElement.rsassaPSS else {
                throw .invalidValue("a key that is not restricted to RSASSA-PSS; generate one for this issuer alone")
            }
            let key = try DERElement.read(DERElement.octetString, from: &info)
            try info.finish()
            return SecretBytes(copying: key)
        } catch {
            throw .malformed(.privateKey, reason: error.description)
        }
    }
}

extension TokenPrivateKey: CustomStringConvertible, CustomReflectable {
    /// The id of the public key; never the private one.
    public var description: String { "TokenPrivateKey(\(publicKey.keyId))" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
