internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Concurrency
internal import NodeModel
internal import NodeService
internal import Platform

/// The passphrase of a running node's vault, from the settings or a prompt; read once per command.
final class PassphraseSource: Sendable {
    /// The path of the home.
    private let place: String
    private let settings: Settings
    private let known = Locked<SecretBytes?>(nil)

    init(place: String, settings: Settings) {
        self.place = place
        self.settings = settings
    }

    /// Returns the result of `open` for the passphrase.
    ///
    /// A person is asked if no setting gives it, and once more after a wrong one.
    ///
    /// - Throws: ``CommandFailure`` without a passphrase and without a terminal; the error of `open`.
    func opening<Opened>(_ open: (SecretBytes) async throws -> Opened) async throws -> Opened {
        if let passphrase = known.withLock({ $0 }) { return try await open(passphrase) }
        let directory = try NodeDirectory.existing(place)
        return try await NodeDirectory.secret(of: directory, settings: settings).opening { secret in
            guard case .passphrase(let passphrase) = secret else {
                throw CommandFailure(
                    CommandFailure.passphraseNeeded,
                    .usage,
                    "a passphrase opens this vault, not a key file: leave out --key-file"
                )
            }
            let opened = try await open(passphrase)
            known.withLock { $0 = passphrase }
            return opened
        }
    }
}
