package import CommandModel
package import HTTPAPI

extension HTTPServerError {
    /// The failure of a command that serves at `--listen-address` and `--port`.
    package var commandFailure: CommandFailure {
        switch self {
        case .cannotListen:
            CommandFailure("cannot-listen", .unavailable, "\(self); give another --port or --listen-address")
        case .badCertificate(let reason):
            CommandFailure("bad-server-certificate", .configuration, "the certificate cannot be used: \(reason)")
        }
    }
}
