internal import NanoTDF
internal import RunarNode
internal import SealedMessages

// The errors of the libraries for sealed data, of which RunarNode knows nothing.
extension RunarError {
    /// Any error of a function for sealed data.
    init(sealed error: any Error) {
        switch error {
        case let error as SealedMessageError: self = .failure(Self.code(of: error), message: error.description)
        case let error as OneTimeKeyError: self = .failure(Self.code(of: error), message: error.description)
        case let error as NanoTDFError: self = .failure(Self.code(of: error), message: error.description)
        default: self.init(error)
        }
    }

    private static func code(of error: SealedMessageError) -> RunarErrorCode {
        switch error {
        case .noKeys: .noOneTimeKeys
        case .notConnected: .unreachable
        case .notReceived: .noService
        case .peerHasNoKey: .oneTimeKeyNotFound
        case .exchangeFailed: .keyExchangeFailed
        case .managerExists: .inUse
        case .wrongSafetyNumber: .wrongSafetyNumber
        case .noServiceKey: .invalidParameters
        }
    }

    private static func code(of error: OneTimeKeyError) -> RunarErrorCode {
        switch error {
        case .malformed: .decoding
        case .unsupportedSuite: .unsupported
        case .invalidCapacity: .invalidParameters
        case .noKeysAvailable: .noOneTimeKeys
        case .keyNotFound: .oneTimeKeyNotFound
        case .keyUsed: .oneTimeKeyUsed
        case .wrongRecipient, .authenticationFailed: .notAuthentic
        case .tooLarge: .tooLarge
        case .cryptographyFailed: .unknown
        }
    }

    private static func code(of error: NanoTDFError) -> RunarErrorCode {
        switch error {
        case .malformed, .unsupportedCurve, .unsupportedPolicy, .otherHeader: .decoding
        case .invalidInput, .invalidKey, .wrongCurve: .invalidParameters
        case .tooLarge, .exhausted: .tooLarge
        case .invalidBinding, .invalidCreatorSignature, .authenticationFailed, .brokenStream: .notAuthentic
        case .cryptographyFailed: .unknown
        }
    }
}
