package import Failures

/// Why a text is not a ``DIDProof``, or a proof is not valid.
package enum DIDProofError: Error, Hashable, Sendable {
    /// The signature has about `found` bytes.
    case wrongLength(found: Int)
    /// The text is not base64url without padding.
    case notBase64URL(reason: String)
    /// The signature is not that of the DID's key over the values of this registration.
    case doesNotVerify
}

extension DIDProofError: CodedError, CustomStringConvertible {
    /// The failure in words, with the right form.
    package var description: String {
        switch self {
        case .wrongLength(let found):
            "the proof of a DID is a signature of 64 bytes, r and s, and not of \(found); DER is not accepted"
        case .notBase64URL(let reason):
            "the proof of a DID is base64url without padding: \(reason)"
        case .doesNotVerify:
            "the proof does not verify: sign the challenge, the server, the handle and the DID with the key of the DID"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .wrongLength, .notBase64URL: FailureCode("bad-did-proof", .invalidParameters, .usage)
        case .doesNotVerify: FailureCode("did-not-proven", .notAuthentic, .notPermitted)
        }
    }
}
