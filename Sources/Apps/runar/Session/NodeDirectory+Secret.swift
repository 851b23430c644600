internal import Bytes
internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService
internal import Platform

extension NodeDirectory {
    /// Opens a home that `runar init` made, with the secret of the settings or of a person, and announces an update of its
    /// data.
    ///
    /// - Throws: ``CommandFailure`` or the error of a store.
    static func open(_ path: String, settings: Settings, waiting: Bool = true) async throws -> NodeDirectory {
        let home = try await open(path, waiting: waiting, isServed: Session.isNodeRunning) { directory in
            try await secret(of: directory, settings: settings).opening {
                try VaultFile.open(at: directory.file(vaultName), secret: $0)
            }
        }
        try await Upgrade.announce(home, settings: settings)
        return home
    }

    /// The source of the secret that opens the vault: a key file if one is named or lies in the home, else a passphrase.
    static func secret(of directory: DataDirectory, settings: Settings) throws -> SecretSource {
        if let path = settings.text(.keyFile) { return .setting(.keyFile(path: path)) }
        if settings.text(.passphraseFile) == nil, try VaultFile.exists(at: directory.file(keyFileName)) {
            return .setting(.keyFile(path: directory.file(keyFileName)))
        }
        if let path = settings.text(.passphraseFile) { return .setting(.passphrase(try passphrase(in: path))) }
        guard try !VaultFile.isOpenedWithKeyFile(at: directory.file(vaultName)) else {
            throw CommandFailure(
                "no-key-file",
                .noInput,
                "a key file opens this vault, and there is none at \(directory.file(keyFileName)): put it back, or say"
                    + " where it is with --key-file"
            )
        }
        return .person(
            question: "passphrase for \(directory.path): ",
            advice: "give the passphrase with --passphrase-file FILE or RUNAR_PASSPHRASE_FILE"
        )
    }

    /// The first line of a file; `-` is standard input.
    static func passphrase(in path: String) throws -> SecretBytes {
        var bytes: [UInt8]
        if path == "-" {
            bytes = []
            while bytes.count <= passphraseLimit, let byte = Posix.read(0, atMost: 1).first, byte != newline {
                bytes.append(byte)
            }
        } else {
            bytes = try InputText.bytes(path, limit: passphraseLimit)
        }
        if let end = bytes.firstIndex(of: newline) { bytes.removeSubrange(end...) }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else {
            throw CommandFailure("empty-passphrase", .data, "the first line of the passphrase file is empty")
        }
        return SecretBytes(consuming: &bytes)
    }

    private static let passphraseLimit = 4096
    private static let newline = UInt8(ascii: "\n")
}
