internal import CommandModel
internal import Platform

/// The file with the relying party id of the first start of a data directory, to which all passkeys in it are bound.
struct RelyingPartyFile: Sendable {
    static let name = "rp-id"
    private static let byteLimit = 1_024

    private let path: String

    init(in directory: DataDirectory) {
        path = directory.file(Self.name)
    }

    /// Throws if the data belongs to another relying party id; data without the file belongs to none yet.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``.
    func check(_ rpId: String) throws {
        guard let bytes = try AtomicFile.read(path, limit: Self.byteLimit) else { return }
        let bound = String(decoding: bytes, as: UTF8.self)
        guard bound != rpId else { return }
        throw CommandFailure(
            "other-rp-id",
            .configuration,
            "the passkeys in this data are bound to \(bound), not to \(rpId): set rpId to \(bound), or use other data with "
                + "--data. To make all of them useless on purpose, remove \(path)"
        )
    }

    /// Checks the relying party id, and writes it at the first start.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``.
    func bind(to rpId: String) throws {
        try check(rpId)
        if try SystemFileSystem().status(of: path, followingLink: false) == nil {
            try AtomicFile.write(Array(rpId.utf8), to: path)
        }
    }
}
