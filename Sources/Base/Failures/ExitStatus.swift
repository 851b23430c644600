/// The exit status of a command, in the numbers of BSD's sysexits.
package enum ExitStatus: Int32, Codable, Sendable, CaseIterable {
    case success = 0
    /// The command line is wrong.
    case usage = 64
    /// The input is damaged, forged or of another kind.
    case data = 65
    /// A file to read is not there.
    case noInput = 66
    /// A peer or a node cannot be reached.
    case unavailable = 69
    /// The program itself is at fault.
    case software = 70
    /// A file cannot be made, or exists already.
    case cannotCreate = 73
    /// Reading or writing failed.
    case inputOutput = 74
    /// It may work later: timeouts, something in use.
    case tryAgain = 75
    /// Refused: a wrong passphrase, not the owner, declined.
    case notPermitted = 77
    /// The home or the configuration is missing or wrong.
    case configuration = 78
    /// Ended by Control-C or another signal before it was done: 128 and the number of SIGINT, as shells report it.
    case interrupted = 130
}

extension ExitStatus {
    /// The status of an HTTP response for a failure with this exit status.
    package var httpStatus: Int {
        switch self {
        case .success, .software, .inputOutput, .configuration, .interrupted: 500
        case .usage: 400
        case .data: 422
        case .noInput: 404
        case .unavailable, .tryAgain: 503
        case .cannotCreate: 409
        case .notPermitted: 403
        }
    }
}
