internal import Bytes
package import Identity

/// The public key of a credential in COSE (RFC 9052, section 7, and Web Authentication Level 3, section 5.8.5).
///
/// Only the parameters that the key type requires and `alg` are allowed, in CTAP2's canonical CBOR, so that a key has one
/// encoding.
package struct COSEKey: Hashable, Sendable {
    /// The most bytes of a key: an RSA key of 4096 bits has 528.
    package static let maximumByteCount = 1_024

    /// A key of one of the supported algorithms.
    package enum Material: Hashable, Sendable {
        case es256(P256PublicKey)
        case eddsa(Ed25519PublicKey)
        case rs256(RSAPublicKey)
    }

    package let material: Material

    package init(_ material: Material) {
        self.material = material
    }

    /// Reads a key that takes up all of `bytes`.
    package init(_ bytes: some Collection<UInt8>) throws(WebAuthnError) {
        let item: CBORItem
        do {
            item = try CBORItem(bytes, limit: Self.maximumByteCount, maximumDepth: 1)
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
        try self.init(item)
    }

    init(_ item: CBORItem) throws(WebAuthnError) {
        guard var parameters = item.map else { throw .malformed(of: Self.subject, reason: "it is not a map") }
        let type = try Self.integer(Label.keyType, from: &parameters)
        let number = try Self.integer(Label.algorithm, from: &parameters)
        guard let algorithm = COSEAlgorithm(rawValue: number) else { throw .algorithmNotOffered(number) }
        guard type == KeyType.of(algorithm) else {
            throw .malformed(of: Self.subject, reason: "the key type \(type) does not fit the algorithm \(number)")
        }
        switch algorithm {
        case .es256: material = .es256(try Self.p256Key(from: &parameters))
        case .eddsa: material = .eddsa(try Self.ed25519Key(from: &parameters))
        case .rs256:
            let modulus = try Self.bytes(Label.modulus, from: &parameters)
            let exponent = try Self.bytes(Label.exponent, from: &parameters)
            material = .rs256(try RSAPublicKey(modulus: modulus, exponent: exponent))
        }
        guard parameters.isEmpty else {
            throw .malformed(of: Self.subject, reason: "it has parameters besides the required ones")
        }
    }

    package var algorithm: COSEAlgorithm {
        switch material {
        case .es256: .es256
        case .eddsa: .eddsa
        case .rs256: .rs256
        }
    }

    /// The key in CTAP2's canonical CBOR.
    package var encoded: [UInt8] {
        let common: [CBORItem: CBORItem] = [
            Label.keyType: .integer(KeyType.of(algorithm)),
            Label.algorithm: .integer(algorithm.rawValue),
        ]
        let own: [CBORItem: CBORItem] =
            switch material {
            case .es256(let key):
                [
                    Label.curve: .integer(Curve.p256),
                    Label.x: .bytes([UInt8](key.x963[1...32])),
                    Label.y: .bytes([UInt8](key.x963[33...])),
                ]
            case .eddsa(let key): [Label.curve: .integer(Curve.ed25519), Label.x: .bytes(key.bytes)]
            case .rs256(let key): [Label.modulus: .bytes(key.modulus), Label.exponent: .bytes(key.exponent)]
            }
        return CBORItem.map(common.merging(own) { first, _ in first }).encoded
    }

    /// Whether `signature`, in the algorithm's form in Web Authentication, is this key's over exactly `message`.
    package func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        switch material {
        case .es256(let key): key.isValidSignature(der: signature, for: message)
        case .eddsa(let key): key.isValidSignature(signature, for: message)
        case .rs256(let key): key.isValidSignature(signature, for: message)
        }
    }
}

extension COSEKey {
    private static let subject = "the public key of the passkey"

    /// The labels of parameters; those below zero depend on the key type.
    private enum Label {
        static let keyType = CBORItem.integer(1)
        static let algorithm = CBORItem.integer(3)
        static let curve = CBORItem.integer(-1)
        static let x = CBORItem.integer(-2)
        static let y = CBORItem.integer(-3)
        static let modulus = CBORItem.integer(-1)
        static let exponent = CBORItem.integer(-2)
    }

    private enum KeyType {
        /// Octet key pair, elliptic curve with two coordinates, and RSA.
        static func of(_ algorithm: COSEAlgorithm) -> Int64 {
            switch algorithm {
            case .eddsa: 1
            case .es256: 2
            case .rs256: 3
            }
        }
    }

    private enum Curve {
        static let p256: Int64 = 1
        static let ed25519: Int64 = 6
    }

    private static func p256Key(from parameters: inout [CBORItem: CBORItem]) throws(WebAuthnError) -> P256PublicKey {
        try checkCurve(Curve.p256, from: &parameters)
        let x = try bytes(Label.x, from: &parameters)
        // The compressed form, in which y is a Boolean, is not allowed.
        let y = try bytes(Label.y, from: &parameters)
        guard x.count == 32, y.count == 32 else {
            throw .malformed(of: subject, reason: "a coordinate has not 32 bytes")
        }
        do {
            return try P256PublicKey(x963: [4] + x + y)
        } catch {
            throw .malformed(of: subject, reason: "\(error)")
        }
    }

    private static func ed25519Key(
        from parameters: inout [CBORItem: CBORItem]
    ) throws(WebAuthnError) -> Ed25519PublicKey {
        try checkCurve(Curve.ed25519, from: &parameters)
        let x = try bytes(Label.x, from: &parameters)
        do {
            return try Ed25519PublicKey(rawRepresentation: x)
        } catch {
            throw .malformed(of: subject, reason: "\(error)")
        }
    }

    private static func checkCurve(
        _ expected: Int64,
        from parameters: inout [CBORItem: CBORItem]
    ) throws(WebAuthnError) {
        let curve = try integer(Label.curve, from: &parameters)
        guard curve == expected else {
            throw .malformed(of: subject, reason: "the curve \(curve) does not fit the algorithm")
        }
    }

    private static func integer(
        _ label: CBORItem,
        from parameters: inout [CBORItem: CBORItem]
    ) throws(WebAuthnError) -> Int64 {
        guard let value = parameters.removeValue(forKey: label)?.integer else { throw missing(label, "an integer") }
        return value
    }

    private static func bytes(
        _ label: CBORItem,
        from parameters: inout [CBORItem: CBORItem]
    ) throws(WebAuthnError) -> [UInt8] {
        guard let value = parameters.removeValue(forKey: label)?.bytes else { throw missing(label, "a byte string") }
        return value
    }

    private static func missing(_ label: CBORItem, _ kind: String) -> WebAuthnError {
        .malformed(of: subject, reason: "the parameter \(label.integer ?? 0) is missing or not \(kind)")
    }
}
