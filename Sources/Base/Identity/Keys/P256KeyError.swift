package import Failures

/// Why a P-256 key was refused, or did not sign.
package enum P256KeyError: Error, Hashable, Sendable {
    /// The encoding of `form` has another number of bytes.
    case wrongLength(of: String, expected: Int, found: Int)
    /// The first byte of the encoding of `form` is not one of those allowed.
    case wrongFirstByte(of: String, expected: String, found: UInt8)
    /// The coordinates are not those of a point of the curve, or are not below the field's prime.
    case notOnCurve
    /// The scalar of a private key is zero, or not below the order of the curve.
    case scalarOutOfRange
    /// The system's cryptography refused to sign.
    case signingFailed
}

extension P256KeyError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do where something can be done.
    package var description: String {
        switch self {
        case .wrongLength(let form, let expected, let found):
            "\(form) has \(expected) bytes, not \(found); copy it again in full"
        case .wrongFirstByte(let form, let expected, let found):
            "\(form) begins with the byte \(expected), not \(found); look up which form of the key this is"
        case .notOnCurve:
            "this is not a point of the curve P-256: the key was changed or is of another curve; copy it again"
        case .scalarOutOfRange:
            "these 32 bytes are no private key on P-256; make a new key"
        case .signingFailed:
            "the system's cryptography refused to sign; try again, and report it if it stays"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-key", .invalidParameters, .data) }
}
