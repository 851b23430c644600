internal import Bytes
package import Platform

/// The source of the secret that opens a vault or a sealed file.
package enum SecretSource {
    /// A setting: a wrong secret ends the command.
    case setting(VaultSecret)
    /// A person, who is asked again after a wrong passphrase.
    case person(question: String, advice: String)

    /// Returns the result of `open` for the secret.
    ///
    /// - Throws: The error of `open`; ``CommandFailure`` without a terminal.
    package func opening<Opened>(_ open: (VaultSecret) async throws -> Opened) async throws -> Opened {
        switch self {
        case .setting(let secret): try await open(secret)
        case .person(let question, let advice):
            try await Prompt.secret(question, otherwise: advice) { try await open(.passphrase($0)) }
        }
    }
}
