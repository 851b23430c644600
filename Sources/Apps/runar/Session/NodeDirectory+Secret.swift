internal import Bytes
internal import NodeService
internal import Platform

extension NodeDirectory {
    /// Opens a home that `runar init` made, with what the settings or a person say.
    ///
    /// - Throws: ``CommandFailure`` or the error of a store.
    static func open(_ path: String, settings: Settings, waiting: Bool = true) async throws -> NodeDirectory {
        try await open(path, waiting: waiting) { try secret(of: $0, settings: settings) }
    }

    /// The secret that opens the vault: a key file if one is named or lies in the home, else a passphrase.
    static func secret(of directory: DataDirectory, settings: Settings) throws -> VaultSecret {
        if let path = settings.text(.keyFile) { return .keyFile(path: path) }
        if settings.text(.passphraseFile) == nil, try VaultFile.exists(at: directory.file(keyFileName)) {
            return .keyFile(path: directory.file(keyFileName))
        }
        if let path = settings.text(.passphraseFile) { return .passphrase(try passphrase(in: path)) }
        guard try !VaultFile.isOpenedWithKeyFile(at: directory.file(vaultName)) else {
            throw CommandFailure(
                "no-key-file",
                .noInput,
                "a key file opens this vault, and there is none at \(directory.file(keyFileName)): put it back, or say"
                    + " where it is with --key-file"
            )
        }
        return .passphrase(
            try Prompt.secret(
                "passphrase for \(directory.path): ",
                otherwise: "give the passphrase with --passphrase-file FILE or RUNAR_PASSPHRASE_FILE"
            )
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
