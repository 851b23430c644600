public import Failures

/// Why a NanoTDF was refused, or cannot be made.
public enum NanoTDFError: Error, Hashable, Sendable {
    /// The parts of a NanoTDF, and of what one is made from, that an error names.
    public enum Field: String, CaseIterable, Hashable, Sendable {
        /// Magic number and version.
        case magic = "the magic number"
        /// Low nibble of the first byte of a resource locator.
        case locatorProtocol = "the locator's protocol"
        /// Length and bytes of the body of a resource locator.
        case locatorBody = "the locator's body"
        /// High nibble of the first byte of a resource locator, and the bytes that it announces.
        case locatorIdentifier = "the locator's identifier"
        /// The byte "ECC And Binding Mode".
        case bindingMode = "the ECC and binding mode"
        /// The byte "Symmetric and Payload Config".
        case payloadMode = "the symmetric and payload configuration"
        /// The number of the kind of policy.
        case policyType = "the policy's type"
        /// Length and content of an embedded policy.
        case policyContent = "the policy's content"
        /// The ephemeral key of a policy with its own key access.
        case policyKey = "the policy's ephemeral key"
        /// The hash or signature that binds the policy.
        case binding = "the policy binding"
        /// The ephemeral public key.
        case ephemeralKey = "the ephemeral key"
        /// Length of the payload.
        case payloadLength = "the payload's length"
        /// The 3 bytes of the IV.
        case iv = "the payload's IV"
        /// Ciphertext and tag.
        case payload = "the payload"
        /// The public key of the creator.
        case creatorKey = "the creator's public key"
        /// The signature of the creator.
        case creatorSignature = "the creator's signature"
        /// The place behind the last field.
        case end = "the end"
    }

    /// The bytes from `offset` on are not a valid `field`.
    case malformed(field: Field, offset: Int, reason: String)
    /// A value for `field` that the format cannot carry.
    case invalidInput(field: Field, reason: String)
    /// The text or the bytes of a key cannot be used.
    case invalidKey(reason: String)
    /// The curve is known, and this library has no implementation of it.
    case unsupportedCurve(EllipticCurve)
    /// The policy is encrypted under a key of its own (type 3), which this library does not open.
    case unsupportedPolicy
    /// The key is on another curve than the file.
    case wrongCurve(expected: EllipticCurve, found: EllipticCurve)
    /// A plaintext of `found` bytes, where one payload has room for `limit`.
    case tooLarge(limit: Int, found: Int)
    /// The binding does not fit the policy.
    case invalidBinding
    /// The signature of the creator does not verify.
    case invalidCreatorSignature
    /// The tag fits none of the dialects: the key is another one, or the file was changed.
    case authenticationFailed
    /// A part does not continue the file; parts count from 1.
    case brokenStream(part: Int, reason: String)
    /// The header of a message is not that of its collection.
    case otherHeader
    /// The header has served its last payload.
    case exhausted
    /// The system's cryptography refused to work.
    case cryptographyFailed
}

extension NanoTDFError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do where something can be done.
    public var description: String {
        switch self {
        case .malformed(let field, let offset, let reason):
            "this is not a valid NanoTDF: \(field.rawValue) at byte \(offset): \(reason)"
        case .invalidInput(let field, let reason):
            "\(field.rawValue) cannot be written: \(reason)"
        case .invalidKey(let reason):
            "this key cannot be used: \(reason)"
        case .unsupportedCurve(let curve):
            "the curve \(curve) is not supported; use a key on secp256r1, secp384r1 or secp521r1"
        case .unsupportedPolicy:
            "the policy is encrypted under a key of its own (type 3), which cannot be opened here"
        case .wrongCurve(let expected, let found):
            "the file needs a key on \(expected), and this one is on \(found)"
        case .tooLarge(let limit, let found):
            "one NanoTDF has room for \(limit) bytes, not \(found); split the file into parts"
        case .invalidBinding:
            "the binding of the policy does not verify: the policy was changed, or the key is another one"
        case .invalidCreatorSignature:
            "the creator's signature does not verify: the file was changed or is a forgery; ask for it again"
        case .authenticationFailed:
            "the payload does not open: the key is another one, or the file was changed"
        case .brokenStream(let part, let reason):
            "part \(part) of the file does not continue it: \(reason); ask for the file again"
        case .otherHeader:
            "the message has another header than the collection; open it with an opener of its own"
        case .exhausted:
            "no more payloads can be sealed under this header; make a new one"
        case .cryptographyFailed:
            "the system's cryptography refused to work; try again, and report it if it stays"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .malformed, .unsupportedCurve, .unsupportedPolicy, .otherHeader:
            FailureCode("bad-nanotdf", .decoding, .data)
        case .invalidInput, .invalidKey, .wrongCurve: FailureCode("bad-nanotdf", .invalidParameters, .data)
        case .tooLarge, .exhausted: FailureCode("bad-nanotdf", .tooLarge, .data)
        case .invalidBinding, .invalidCreatorSignature, .authenticationFailed, .brokenStream:
            FailureCode("bad-nanotdf", .notAuthentic, .data)
        case .cryptographyFailed: FailureCode("bad-nanotdf", .unknown, .data)
        }
    }
}

extension NanoTDFError {
    /// The error with the offset of its field in a file that the part begins at `offset`.
    package func moved(by offset: Int) -> NanoTDFError {
        guard case .malformed(let field, let place, let reason) = self else { return self }
        return .malformed(field: field, offset: offset + place, reason: reason)
    }
}
