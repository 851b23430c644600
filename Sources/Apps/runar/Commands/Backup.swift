internal import ArgumentParser
internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform

/// The root key on paper or in a file.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Back up and restore the root key, which owns your networks.",
        subcommands: [Create.self, Restore.self]
    )

}

extension Backup {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Show the recovery phrase, or write an encrypted backup file.",
            discussion: """
                The phrase of 24 words restores the root key, and with it every network it owns. It is shown only \
                on a terminal, after a question and the passphrase of this device, until you press Return. With --file the root key and the texts of its networks go into a file \
                that a passphrase of its own opens.
                """
        )

        @Option(help: ArgumentHelp("Write this file instead of showing words.", valueName: "path"), completion: .file())
        var file: String?
        @Option(help: ArgumentHelp("A file with the backup's passphrase.", valueName: "file"), completion: .file())
        var backupPassphraseFile: String?
        @OptionGroup var home: HomeOptions

        func run() async throws {
            let path = file.map(HomeOptions.absolute)
            // Everything that can fail without an answer is checked before a person is asked.
            if let path {
                guard try !VaultFile.exists(at: path) else { throw KeychainError.alreadyExists(path: path) }
            } else {
                try requireTerminal()
            }
            try await Session.with(home) { session in
                _ = try await session.send(Operations.publicKey(KeyName("root")))
                guard let path else { return try await showPhrase(session) }
                let content = try await session.send(Operations.backup())
                let report = try Backup.write(content, to: path, Backup.newSecret(backupPassphraseFile))
                try Output.report(report, asJSON: home.output.json)
            }
        }

        private func requireTerminal() throws {
            guard Output.isTerminal, !home.output.json, Prompt.isPossible else { throw Self.noTerminal }
        }

        private static let noTerminal = CommandFailure(
            "no-terminal",
            .notPermitted,
            "the recovery phrase is shown to a person at a terminal only: use --file PATH for a backup file"
        )

        /// Shows the words after a question and the passphrase of the vault, which a running node requires here and which
        /// opened the home otherwise.
        private func showPhrase(_ session: Session) async throws {
            Output.note("The next 24 words give control of your networks. Write them on paper where no one can watch.")
            guard try await Prompt.confirms("", with: "show", otherwise: "") else {
                throw CommandFailure("not-confirmed", .notPermitted, "nothing was shown")
            }
            var bytes = try Hex.decode(try await session.send(Operations.backup()).rootKey)
            let phrase = RecoveryPhrase(masterKey: try Ed25519PrivateKey(SecretBytes(consuming: &bytes)))
            let question = ["", "Press Return when all 24 words are on paper. They leave the screen then. "]
            let lines = Self.lines(of: phrase.words, columns: Output.windowSize?.columns ?? 80) + question
            try Prompt.showPrivately(lines, otherwise: Self.noTerminal.message)
            Output.note("the 24 words are no longer shown")
            let hint = "Keep the texts of your networks too (`runar network show --text`): the words omit them."
            Output.note(HomeHint.repeated(in: hint))
        }

        /// The numbered words in columns, which are read downwards, so that all of them fit on a screen.
        static func lines(of words: [String], columns width: Int) -> [String] {
            // A word has at most 8 letters.
            let cellWidth = 15
            let columns = max(1, min(4, width / cellWidth))
            let rows = (words.count + columns - 1) / columns
            let cells = words.enumerated().map { position, word in
                "\(String(position + 1).leftPadding(to: 2))  \(word)".padding(
                    toLength: cellWidth,
                    withPad: " ",
                    startingAt: 0
                )
            }
            return (0..<rows).map { row in
                stride(from: row, to: cells.count, by: rows).map { cells[$0] }.joined()
            }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
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
                let backup = try await Backup.secret(backupPassphraseFile).opening {
                    try VaultFile.contents(at: path, secret: $0)
                }
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
                let report = try await session.send(
                    Operations.restore(RestoreContentForm(content: content, replace: replace))
                )
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
                let revocation = try await session.send(
                    Operations.revoke(NetworkName(network), PeerForm(PeerName(former)))
                )
                try Output.report(revocation, asJSON: false)
            }
        }
    }

    private static let passphraseAdvice = "give it with --backup-passphrase-file FILE"

    /// Returns the source of the passphrase of a backup file or another sealed file: the file that is named, or a prompt.
    static func secret(_ file: String?, otherwise advice: String = passphraseAdvice) throws -> SecretSource {
        guard let file else { return .person(question: "passphrase of the file: ", advice: advice) }
        return .setting(try passphrase(in: file))
    }

    /// Writes a backup file.
    static func write(_ content: BackupContent, to path: String, _ secret: VaultSecret) throws -> BackupReport {
        try VaultFile.export(try BackupFile.storage(of: content), to: path, secret: secret)
        return BackupReport(file: path, networks: content.networks.count)
    }

    /// Returns the passphrase of a new backup file: from a file, or from a prompt.
    static func newSecret(_ file: String?) throws -> VaultSecret {
        if let file { return try passphrase(in: file) }
        return .passphrase(try Prompt.newSecret("choose a passphrase for the file", otherwise: passphraseAdvice))
    }

    private static func passphrase(in file: String) throws -> VaultSecret {
        .passphrase(try NodeDirectory.passphrase(in: file == "-" ? file : HomeOptions.absolute(file)))
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
