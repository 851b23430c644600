internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode

/// Makes the home of a node.
struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make this device's home with its key.",
        discussion: """
            The key of this device is kept in a vault that a passphrase opens. With --no-passphrase a key file in the \
            home opens it, so that a node can start without a person. Every program that can read the home's files can \
            then read the keys.
            """
    )

    @Flag(help: "Open the vault with a key file in the home instead of a passphrase.")
    var noPassphrase = false

    @OptionGroup var home: HomeOptions

    func run() async throws {
        let place = try home.place()
        guard try !NodeDirectory.isMade(at: place) else {
            throw CommandFailure(
                "exists",
                .cannotCreate,
                "there is a node in \(place) already: use it, choose another --home, or remove it with `runar reset`"
            )
        }
        let report = try Self.makeHome(at: place, settings: home.settings(), hasKeyFile: noPassphrase)
        try Output.report(report, asJSON: home.output.json)
    }

    /// Makes a home where there is none.
    static func makeHome(at place: String, settings: Settings, hasKeyFile: Bool) throws -> InitReport {
        let directory = try DataDirectory(at: place)
        let lock = try directory.lockForNode()
        let secret = try secret(directory, settings, hasKeyFile: hasKeyFile)
        let keys = try VaultFile.create(at: directory.file(NodeDirectory.vaultName), secret: secret)
        let node = try NodeDirectory(directory: directory, keys: keys, lock: lock).makeNode(settings: settings)
        return InitReport(
            home: place,
            peerId: node.peerId.base64Encoded,
            peerIdText: node.peerId.text,
            hasPassphrase: !hasKeyFile
        )
    }

    private static func secret(
        _ directory: DataDirectory,
        _ settings: Settings,
        hasKeyFile: Bool
    ) throws -> VaultSecret {
        if hasKeyFile {
            let path = settings.text(.keyFile) ?? directory.file(NodeDirectory.keyFileName)
            try VaultFile.makeOrKeepKeyFile(at: path)
            return .keyFile(path: path)
        }
        if let path = settings.text(.passphraseFile) {
            let passphrase = try NodeDirectory.passphrase(in: path)
            guard NewPassphrase.isLongEnough(passphrase) else {
                throw CommandFailure(
                    "weak-passphrase",
                    .data,
                    "the passphrase has fewer than \(NewPassphrase.fewestCharacters) characters: choose a longer one"
                )
            }
            return .passphrase(passphrase)
        }
        return .passphrase(
            try Prompt.newSecret(
                "choose a passphrase for this device's keys",
                otherwise: "give it with --passphrase-file FILE, or choose a key file with --no-passphrase"
            )
        )
    }
}

/// The home that was made.
struct InitReport: HintingReport {
    let home: String
    let peerId: String
    let peerIdText: String
    let hasPassphrase: Bool

    var lines: [String] {
        [
            "home      \(home)",
            "peer id   \(peerIdText)",
            hasPassphrase
                ? "keys      in a vault that your passphrase opens"
                : "keys      in a vault that a key file opens: a program that can read both files can use the keys",
            "next      `runar network create NAME`, or give your peer id to a network's owner and `runar join`",
        ]
    }
}
