internal import Circle
internal import RunarNode

// The errors of the circle, which RunarNode does not know.
extension RunarError {
    /// Takes any error of a function for people and thoughts.
    init(circle error: any Error) {
        guard let error = error as? CircleError else {
            self.init(sealed: error)
            return
        }
        self = .failure(Self.code(of: error), message: error.description, context: Self.context(of: error))
    }

    private static func code(of error: CircleError) -> RunarErrorCode {
        switch error {
        case .malformed, .unknownThought, .unknownStream, .unknownHome, .repeatedHome: .invalidParameters
        case .tooLong: .tooLarge
        case .invalidSignature: .notAuthentic
        case .noProfile: .noProfile
        case .ownCard: .ownCard
        case .unknownPerson: .unknownPerson
        case .notTrusted, .blocked: .notTrusted
        case .notJoined, .notAllowed, .deviceNotReady, .deviceOfAnother, .clockAhead: .refused
        case .wrongSafetyNumber: .wrongSafetyNumber
        case .managerExists, .hasCircle: .inUse
        }
    }

    private static func context(of error: CircleError) -> String {
        switch error {
        case .malformed(let subject, _), .tooLong(let subject, _, _): subject
        case .unknownPerson(let id), .notTrusted(let id), .blocked(let id), .unknownThought(let id),
            .unknownStream(let id), .notJoined(let id):
            id.text
        case .deviceNotReady(let device), .deviceOfAnother(let device, _), .clockAhead(let device),
            .unknownHome(let device), .repeatedHome(let device):
            device.base64Encoded
        case .invalidSignature, .noProfile, .ownCard, .notAllowed, .wrongSafetyNumber, .managerExists, .hasCircle: ""
        }
    }
}
