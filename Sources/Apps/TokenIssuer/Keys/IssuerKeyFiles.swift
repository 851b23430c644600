internal import BlindTokens
internal import Bytes
internal import CommandModel
internal import Identity
internal import Platform

/// The files of the keys that sign tokens, in the data directory.
///
/// Each is a private key in PEM after a line with a time; readers of PEM skip the line.
struct IssuerKeyFiles: Sendable {
    /// The name of the newest key's file.
    static let currentName = "issuer-key.pem"
    /// The name of the file of the key before the newest one.
    static let previousName = "issuer-key-previous.pem"

    private static let byteLimit = 16_384
    /// The most new keys that are made in search of another last byte: 256^-64 is the chance to need more.
    private static let attemptLimit = 64
    private static let notBeforeLabel = "not-before: "
    private static let untilLabel = "until: "

    private let currentPath: String
    private let previousPath: String
    /// Makes a key; tests have fixed ones.
    private let makeKey: @Sendable () throws -> TokenPrivateKey

    init(
        in directory: DataDirectory,
        makeKey: @escaping @Sendable () throws -> TokenPrivateKey = { try TokenPrivateKey() }
    ) {
        currentPath = directory.file(Self.currentName)
        previousPath = directory.file(Self.previousName)
        self.makeKey = makeKey
    }

    /// The files whose changes a running server takes over.
    var watchedPaths: [String] { [currentPath, previousPath] }

    /// Reads the keys, and makes the first one if it is missing.
    ///
    /// - Throws: ``CommandFailure`` that names the file, or ``FileError``.
    func load(at nowSeconds: UInt64) throws -> IssuerKeys {
        if try text(at: currentPath) == nil {
            try write(try makeKey(), Self.notBeforeLabel, 0, to: currentPath)
        }
        guard let current = try read(currentPath, Self.notBeforeLabel) else {
            throw Self.failure(currentPath, "there is no such file")
        }
        var entries = [IssuerKeys.Entry(key: current.key, notBefore: current.time, until: nil)]
        if let previous = try previous(besides: current.key), nowSeconds < previous.time {
            guard previous.key.publicKey.keyId.truncated != current.key.publicKey.keyId.truncated else {
                throw Self.failure(
                    previousPath,
                    "its key id ends in the same byte as that of \(currentPath): remove it"
                )
            }
            entries.append(IssuerKeys.Entry(key: previous.key, notBefore: 0, until: previous.time))
        }
        return IssuerKeys(entries: entries)
    }

    /// Makes a new key, which clients use from the time of `plan`; the old one signs until its end.
    ///
    /// - Throws: ``CommandFailure`` if the last rotation has not ended; ``FileError``.
    func rotate(_ plan: RotationPlan, at nowSeconds: UInt64) throws {
        guard let old = try read(currentPath, Self.notBeforeLabel) else {
            throw Self.failure(currentPath, "there is no such file: start the issuer first")
        }
        let previous = try previous(besides: old.key)
        if let until = plan.oldKeyUntil {
            if let previous, nowSeconds < previous.time { throw Self.rotated(until: previous.time) }
            try write(old.key, Self.untilLabel, until, to: previousPath)
        } else {
            try remove(previousPath)
        }
        let live = [old.key, previous?.key].compactMap { $0?.publicKey.keyId.truncated }
        // A time that has come is left out of the directory: a client whose clock is behind would find no key.
        let notBefore = plan.notBefore > nowSeconds ? plan.notBefore : 0
        try write(try key(endingUnlike: live), Self.notBeforeLabel, notBefore, to: currentPath)
    }

    /// Removes the file of the previous key once the key no longer signs; returns whether there was one.
    @discardableResult
    func removeExpired(at nowSeconds: UInt64) throws -> Bool {
        guard let previous = try read(previousPath, Self.untilLabel), previous.time <= nowSeconds else { return false }
        try remove(previousPath)
        return true
    }

    /// The previous key; nil without one, and for a copy of `current`, which a rotation that was cut short left.
    private func previous(besides current: TokenPrivateKey) throws -> (key: TokenPrivateKey, time: UInt64)? {
        guard let previous = try read(previousPath, Self.untilLabel),
            previous.key.publicKey.keyId != current.publicKey.keyId
        else { return nil }
        return previous
    }

    /// Makes a key that a truncated key id distinguishes from live ones.
    private func key(endingUnlike live: [UInt8]) throws -> TokenPrivateKey {
        for _ in 0..<Self.attemptLimit {
            let key = try makeKey()
            if !live.contains(key.publicKey.keyId.truncated) { return key }
        }
        throw CommandFailure("internal", .software, "no key with another last byte was found: try again")
    }

    // MARK: Files

    private func read(_ path: String, _ label: String) throws -> (key: TokenPrivateKey, time: UInt64)? {
        guard let text = try text(at: path) else { return nil }
        guard let line = text.split(whereSeparator: \.isNewline).first, line.hasPrefix(label),
            let time = UInt64(line.dropFirst(label.count)), let start = text.firstRange(of: "-----BEGIN")
        else { throw Self.failure(path, "its first line is not \"\(label)\" and a time") }
        do {
            return (try TokenPrivateKey(pemRepresentation: String(text[start.lowerBound...])), time)
        } catch {
            throw Self.failure(path, "\(error)")
        }
    }

    private func write(_ key: TokenPrivateKey, _ label: String, _ time: UInt64, to path: String) throws {
        var bytes = Array("\(label)\(time)\n\(key.pemRepresentation)".utf8)
        defer { bytes.wipe() }
        try AtomicFile.write(bytes, to: path)
    }

    private func remove(_ path: String) throws {
        let files = SystemFileSystem()
        guard try files.status(of: path, followingLink: false) != nil else { return }
        try files.remove(path)
        try files.synchronizeDirectory(FilePath.directory(of: path))
    }

    private func text(at path: String) throws -> String? {
        guard var bytes = try AtomicFile.read(path, limit: Self.byteLimit) else { return nil }
        defer { bytes.wipe() }
        guard let text = String(utf8: bytes) else { throw Self.failure(path, "it is not a text") }
        return text
    }

    private static func rotated(until: UInt64) -> CommandFailure {
        CommandFailure(
            "key-just-rotated",
            .tryAgain,
            """
            the last rotation ends at \(CivilTime(seconds: until)): rotate again after that, or use --now if a key was \
            stolen
            """
        )
    }

    private static func failure(_ path: String, _ why: String) -> CommandFailure {
        CommandFailure("bad-key-file", .configuration, "\(path): \(why)")
    }
}
