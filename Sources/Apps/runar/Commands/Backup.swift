internal import ArgumentParser
internal import Bytes
internal import Foundation
internal import Identity
internal import NodeService
internal import Platform

/// The root key on paper or in a file.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Back up and restore the root key, which owns your networks.",
        subcommands: [Create.self, Restore.self]
    )

}

extension Backup {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the recovery phrase, or write an encrypted backup file.",
            discussion: """
                The phrase of 24 words restores the root key, and with it every network it owns. It is shown only \
                on a terminal, after a question. With --file the root key and the texts of its networks go into a file \
                that a passphrase of its own opens.
                """
        )

        @Option(help: ArgumentHelp("Write this file instead of showing words.", valueName: "path"), completion: .file())
        var file: String?
        @Option(help: ArgumentHelp("A file with the backup's passphrase.", valueName: "file"), completion: .file())
        var backupPassphraseFile: String?
        @OptionGroup var home: HomeOptions

        func run() async throws {
            if file == nil { try await confirm() }
            let content = try await Session.with(home) { try await $0.send(.backup) }
            guard let file else {
                var bytes = try Hex.decode(content.rootKey)
                return try show(RecoveryPhrase(masterKey: try Ed25519PrivateKey(SecretBytes(consuming: &bytes))))
            }
            let backup = try BackupFile.storage(of: content)
            let path = HomeOptions.absolute(file)
            // Checked before the person is asked for a passphrase.
            guard try !VaultFile.exists(at: path) else { throw KeychainError.alreadyExists(path: path) }
            try VaultFile.export(backup, to: path, secret: try Backup.secret(backupPassphraseFile, isNew: true))
            let report = BackupReport(file: path, networks: content.networks.count)
            try Output.report(report, asJSON: home.output.json)
        }

        private func confirm() async throws {
            guard Output.isTerminal, !home.output.json, Prompt.isPossible else {
                throw CommandFailure(
                    "no-terminal",
                    .notPermitted,
                    "the recovery phrase is shown to a person at a terminal only: use --file PATH for a backup file"
                )
            }
            Output.note("The next 24 words give control of your networks. Write them on paper where no one can watch.")
            guard try await Prompt.confirms("", with: "show", otherwise: "") else {
                throw CommandFailure("not-confirmed", .notPermitted, "nothing was shown")
            }
        }

        private func show(_ phrase: RecoveryPhrase) throws {
            for (position, word) in phrase.words.enumerated() {
                try Output.line("\(String(position + 1).leftPadding(to: 2))  \(word)")
            }
            let hint = "Keep the texts of your networks too (`runar network show --text`): the words omit them."
            Output.note(HomeHint.repeated(in: hint))
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Restore the root key from its 24 words or from a backup file.",
            discussion: """
                The words are read only by a prompt. After restoring from words, give each network's text to \
                `runar join` so that this device owns it again.
                """
        )

        @Option(help: ArgumentHelp("The backup file, instead of words.", valueName: "path"), completion: .file())
        var file: String?
        @Option(help: ArgumentHelp("A file with the backup's passphrase.", valueName: "file"), completion: .file())
        var backupPassphraseFile: String?
        @Flag(help: "Replace the root key of this device, which is lost.")
        var replace = false
        @OptionGroup var home: HomeOptions

        func run() async throws {
            if let file {
                let path = HomeOptions.absolute(file)
                guard try VaultFile.exists(at: path) else {
                    throw CommandFailure("no-file", .noInput, "there is no backup file \(path): check the path")
                }
                let secret = try Backup.secret(backupPassphraseFile, isNew: false)
                let backup = try VaultFile.contents(at: path, secret: secret)
                guard let content = try BackupFile.content(of: backup) else {
                    throw CommandFailure(
                        "bad-backup",
                        .data,
                        "there is no root key in \(path): it is another kind of vault"
                    )
                }
                try await restore(content)
            } else {
                let words = try Prompt.secret(
                    "the 24 words: ",
                    otherwise: "the words are read by a prompt only; or use --file PATH"
                )
                let root = try words.withBytes {
                    try RecoveryPhrase(parsing: String(decoding: $0, as: UTF8.self)).masterKey.secret
                }
                let hex = root.withBytes { Hex.encode($0) }
                try await restore(BackupContent(rootKey: hex, networks: [], records: nil))
            }
        }

        private func restore(_ content: BackupContent) async throws {
            try await Session.with(home) { session in
                let report = try await session.send(.restore(content, replacing: replace))
                try Output.report(report, asJSON: home.output.json)
                try await offerRevocation(of: report, session)
            }
        }

        /// Asks a person at a terminal whether the device that made the backup is lost, and revokes it.
        private func offerRevocation(of report: RestoreReport, _ session: Session) async throws {
            guard let former = report.formerPeerId, !report.formerNetworks.isEmpty, !home.output.json,
                Output.isTerminal, Prompt.isPossible,
                try await Prompt.accepts(
                    "Is the device that made the backup lost? If so, it is revoked for good.",
                    otherwise: ""
                )
            else { return }
            for network in report.formerNetworks {
                let revocation = try await session.send(.revoke(PeerName(former), network: NetworkName(network)))
                try Output.report(revocation, asJSON: false)
            }
        }
    }

    /// Returns the passphrase of a backup file, or a new one if `isNew`: from a file, or from a prompt.
    static func secret(
        _ file: String?,
        isNew: Bool,
        otherwise advice: String = "give it with --backup-passphrase-file FILE"
    ) throws -> VaultSecret {
        if let file {
            return .passphrase(try NodeDirectory.passphrase(in: file == "-" ? file : HomeOptions.absolute(file)))
        }
        return .passphrase(
            isNew
                ? try Prompt.newSecret("choose a passphrase for the file", otherwise: advice)
                : try Prompt.secret("passphrase of the file: ", otherwise: advice)
        )
    }
}

/// A backup that was written.
struct BackupReport: Report {
    let file: String
    let networks: Int

    var lines: [String] { ["wrote \(file): the root key and \(networks) network\(networks == 1 ? "" : "s")"] }
}

extension String {
    /// With spaces before it up to a width.
    func leftPadding(to width: Int) -> String { String(repeating: " ", count: Swift.max(0, width - count)) + self }
}
