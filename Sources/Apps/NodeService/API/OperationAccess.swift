internal import APIDescription
internal import Bytes
internal import CommandModel
internal import HTTPAPI
internal import NodeModel
internal import Platform

/// The place and the secret that an operation of the API requires.
///
/// Every operation names one: the argument has no default, so a new operation without it does not compile.
enum OperationAccess: String, Hashable, Sendable, CaseIterable {
    /// A signed-in client, also a paired screen of the local network.
    case overTheNetwork = "network"
    /// A client on this machine.
    case atThisDevice = "device"
    /// A client on this machine that has the secret of the vault: the operation reveals, replaces or hands over a
    /// private key.
    case withVaultSecret = "vault"

    /// The member of the description that states a requirement.
    var extensions: [String: JSONDocument] {
        self == .overTheNetwork ? [:] : ["x-runar-access": .string(rawValue)]
    }
}

/// The field by which a request confirms that a person with the vault's secret is at the device.
struct ConfirmationForm: Decodable {
    let confirmation: String?
}

extension NodeAPI {
    /// The word that a person types if the vault has no passphrase.
    private static let confirmationWord = "show"
    private static let placeAdvice = "this can be done only at the device itself: open the console there"

    /// Refuses a request that does not have the access of its operation.
    ///
    /// - Throws: ``RouteFailure``, ``KeychainError``.
    func check(_ access: OperationAccess, of request: RouteRequest) throws {
        switch access {
        case .overTheNetwork: return
        case .atThisDevice: try checkPlace(of: request)
        case .withVaultSecret:
            try checkPlace(of: request)
            try checkSecret(of: request)
        }
    }

    private func checkPlace(of request: RouteRequest) throws(RouteFailure) {
        guard request.origin != .network else { throw RouteFailure(403, "only-here", Self.placeAdvice) }
    }

    private func checkSecret(of request: RouteRequest) throws {
        switch request.origin {
        // It opened the vault with its secret.
        case .thisProcess: return
        case .socket:
            // A process of the node's own user reads the key file itself.
            guard try hasPassphrase else { return }
            guard let confirmation = try request.form(ConfirmationForm.self).confirmation else {
                throw RouteFailure(
                    403,
                    CommandFailure.passphraseNeeded,
                    "this needs the passphrase of the vault: give it with --passphrase-file FILE or at the prompt",
                    exitCode: ExitStatus.notPermitted.rawValue
                )
            }
            try checkPassphrase(confirmation)
        case .thisMachine, .network:
            guard let confirmation = try request.form(ConfirmationForm.self).confirmation else {
                throw RouteRequest.badField("confirmation", "is missing")
            }
            guard try !hasPassphrase else { return try checkPassphrase(confirmation) }
            guard confirmation == Self.confirmationWord else {
                throw RouteFailure(403, "not-confirmed", "type the word \(Self.confirmationWord): nothing was done")
            }
        }
    }

    private var hasPassphrase: Bool { get throws { try handler.vaultKind == .passphrase } }

    /// - Throws: ``KeychainError`` for another passphrase than the vault's; ``RouteFailure`` while another is checked.
    private func checkPassphrase(_ passphrase: String) throws {
        _ = try passphraseGate.work {
            try VaultFile.contents(
                at: handler.home.file(NodeDirectory.vaultName),
                secret: .passphrase(SecretBytes(copying: Array(passphrase.utf8)))
            )
        }
    }
}

extension CommandFailure {
    /// The code with which a running node asks a command for the passphrase of its vault.
    package static let passphraseNeeded = "passphrase-needed"
}
