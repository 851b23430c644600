internal import Bytes
internal import Concurrency
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

    /// Returns the passphrase.
    ///
    /// A person is asked if no setting gives it.
    ///
    /// - Throws: ``CommandFailure`` without a passphrase and without a terminal.
    func read() throws -> SecretBytes {
        if let passphrase = known.withLock({ $0 }) { return passphrase }
        let directory = try NodeDirectory.existing(place)
        guard case .passphrase(let passphrase) = try NodeDirectory.secret(of: directory, settings: settings) else {
            throw CommandFailure(
                CommandFailure.passphraseNeeded,
                .usage,
                "a passphrase opens this vault, not a key file: leave out --key-file"
            )
        }
        known.withLock { $0 = passphrase }
        return passphrase
    }
}
