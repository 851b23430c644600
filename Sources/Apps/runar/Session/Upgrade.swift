internal import CommandKit
internal import CommandModel
internal import Database
internal import NodeModel
internal import NodeService
internal import NodeStore
internal import Platform

/// The first use of a home by a newer program.
enum Upgrade {
    /// Announces the update of a state that an older program wrote, and offers the person at the terminal a backup of the
    /// root key before.
    ///
    /// - Throws: ``CommandFailure``; then nothing was changed.
    static func announce(_ home: NodeDirectory, settings: Settings) async throws {
        let state = home.directory.file(NodeDirectory.stateName)
        // Opening it reports a failure with its advice.
        guard let migration = try? StateMigration.pending(at: state, to: NodeStore.format) else { return }  // see above
        Output.note(
            "note: an older program wrote the data in \(home.directory.path): it is brought from version"
                + " \(migration.found) to \(NodeStore.format.version), and a copy stays in \(migration.copy)"
        )
        guard try home.keys.retrieve(id: BackupFile.rootName) != nil, Output.isTerminal, Prompt.isPossible,
            try await Prompt.accepts("Write a backup of the root key before that?", otherwise: "")
        else { return }
        let file = "\(home.directory.path)-version-\(migration.found).backup"
        try await writeBackup(of: home, state: state, settings: settings, to: file)
    }

    /// The state is read from a copy, which this program may bring to its own version.
    private static func writeBackup(
        of home: NodeDirectory,
        state: String,
        settings: Settings,
        to file: String
    ) async throws {
        guard try !VaultFile.exists(at: file) else { throw KeychainError.alreadyExists(path: file) }
        let copy = AtomicFile.temporaryPath(for: state)
        defer { try? AtomicFile.removeLeftovers(of: state) }  // the next start of a node removes them as well
        try StateMigration.copyDatabase(at: state, to: copy)
        let handler = RequestHandler(
            node: try home.makeNode(settings: settings, state: copy),
            keys: home.keys,
            home: home.directory,
            settings: settings
        )
        let content = try await NodeAPI(handler).perform(Operations.backup()) { _ in }
        Output.note(try Backup.write(content, to: file, Backup.newSecret(nil)).lines.joined())
    }
}
