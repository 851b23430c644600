internal import APIDescription
internal import HTTPAPI
internal import RegistrationModel

/// The handle in a path.
struct HandleSegment: PathParameter {
    static let parameter = "handle"
    let handle: Handle

    /// - Throws: ``HandleError`` with the rule that the text breaks.
    init(segment: String) throws { handle = try Handle(existing: segment) }

    var segment: String { handle.text }
}

/// The ceremony of a command in a path.
struct CeremonySegment: PathText {
    static let parameter = "ceremony"
    let text: String

    init(_ text: String) { self.text = text }
}

/// The action in a path that a passkey confirms.
struct ActionSegment: PathParameter {
    static let parameter = "action"
    let action: AccountService.Action

    init(segment: String) throws {
        guard let action = AccountService.Action(rawValue: segment) else {
            let names = AccountService.Action.allCases.map(\.rawValue).joined(separator: ", ")
            throw RouteRequest.badField("action", "is one of \(names)")
        }
        self.action = action
    }

    var segment: String { action.rawValue }
}
