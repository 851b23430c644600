internal import Bytes
internal import Crypto
internal import Essentials

extension VaultFile {
    static func create(
        at path: String,
        secret: VaultSecret,
        derivation: VaultKeyDerivation?,
        fileSystem: some FileSystem
    ) throws(KeychainError) -> VaultFile {
        let lock = try lock(path, fileSystem: fileSystem)
        let status = try reading { () throws(FileError) in
            try fileSystem.status(of: path, followingLink: false)
        }
        guard status == nil else { throw .alreadyExists(path: path) }
        try removeLeftovers(of: path, fileSystem: fileSystem)
        let key = try newKey(secret, derivation: derivation, path: path, fileSystem: fileSystem)
        let state = State(key: key, entries: [:], lock: lock)
        try write(state.entries, with: state.key, to: path, fileSystem: fileSystem)
        return VaultFile(path: path, state: state, fileSystem: fileSystem)
    }

    static func open(
        at path: String,
        secret: VaultSecret,
        fileSystem: some FileSystem
    ) throws(KeychainError) -> VaultFile {
        // Checked before the lock, which would create a lock file for a missing vault.
        try checkPrivate(path, fileSystem: fileSystem)
        let lock = try lock(path, fileSystem: fileSystem)
        try removeLeftovers(of: path, fileSystem: fileSystem)
        let (key, entries) = try read(path, secret: secret, fileSystem: fileSystem)
        return VaultFile(
            path: path,
            state: State(key: key, entries: entries, lock: lock),
            fileSystem: fileSystem
        )
    }

    /// Derives a key with a new salt.
    static func newKey(
        _ secret: VaultSecret,
        derivation: VaultKeyDerivation?,
        path: String,
        fileSystem: some FileSystem
    ) throws(KeychainError) -> VaultKey {
        let standard: VaultKeyDerivation =
            switch secret {
            case .passphrase: .standard
            case .keyFile: .keyFile
            }
        var random = SystemRandom()
        return try VaultKey(
            secret,
            derivation: derivation ?? standard,
            salt: random.bytes(count: VaultHeader.saltBytes),
            path: path,
            fileSystem: fileSystem
        )
    }

    /// Throws unless `path` is a file that no other user can read.
    static func checkPrivate(_ path: String, fileSystem: some FileSystem) throws(KeychainError) {
        let status = try reading { () throws(FileError) in
            try fileSystem.status(of: path, followingLink: false)
        }
        guard let status else { throw .notFound(path: path) }
        guard status.kind == .file else { throw .foreign(path: path) }
        guard status.mode & 0o077 == 0 else { throw .exposed(path: path, mode: status.mode) }
    }

    static func reading<R>(_ body: () throws(FileError) -> R) throws(KeychainError) -> R {
        do {
            return try body()
        } catch {
            throw .unableToRead("\(error)")
        }
    }

    /// Takes the lock, which is a separate file, because the vault itself is replaced at each change.
    private static func lock(_ path: String, fileSystem: some FileSystem) throws(KeychainError) -> FileLock {
        do {
            return try FileLock(path: path + ".lock", fileSystem: fileSystem)
        } catch {
            switch error {
            case .held(let process): throw .locked(path: path, byProcess: process)
            case .file(let error): throw .unableToStore("\(error)")
            }
        }
    }

    private static func removeLeftovers(of path: String, fileSystem: some FileSystem) throws(KeychainError) {
        do {
            try AtomicFile.removeLeftovers(of: path, fileSystem: fileSystem)
        } catch {
            throw .unableToStore("\(error)")
        }
    }

    static func read(
        _ path: String,
        secret: VaultSecret,
        fileSystem: some FileSystem
    ) throws(KeychainError) -> (VaultKey, [String: VaultEntry]) {
        let file = try bytes(at: path, fileSystem: fileSystem)
        return try unseal(file, secret: secret, path: path, fileSystem: fileSystem)
    }

    /// The whole file as it is.
    static func bytes(at path: String, fileSystem: some FileSystem) throws(KeychainError) -> [UInt8] {
        do {
            guard let file = try AtomicFile.read(path, limit: VaultHeader.fileLimit, fileSystem: fileSystem) else {
                throw KeychainError.notFound(path: path)
            }
            return file
        } catch let error as KeychainError {
            throw error
        } catch let error as FileError where error.code == SystemErrors.tooLarge {
            throw .foreign(path: path)
        } catch {
            throw .unableToRead("\(error)")
        }
    }

    /// Opens the bytes of a whole vault.
    static func unseal(
        _ file: [UInt8],
        secret: VaultSecret,
        path: String,
        fileSystem: some FileSystem
    ) throws(KeychainError) -> (VaultKey, [String: VaultEntry]) {
        let header = try VaultHeader(readingFrom: file, path: path)
        let key = try VaultKey(
            secret,
            derivation: header.derivation,
            salt: header.salt,
            path: path,
            fileSystem: fileSystem
        )
        guard ConstantTime.areEqual(key.check, header.keyCheck) else {
            throw header.derivation == .keyFile ? .wrongKeyFile(path: path) : .wrongPassphrase(path: path)
        }
        let bodyStart = VaultHeader.byteCount
        let tagStart = file.count - VaultHeader.tagBytes
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: header.nonce),
                ciphertext: file[bodyStart..<tagStart],
                tag: file[tagStart...]
            )
            var opened = try AES.GCM.open(box, using: key.body, authenticating: file[..<bodyStart])
            var plain = [UInt8](opened)
            opened.resetBytes(in: opened.startIndex..<opened.endIndex)
            defer { plain.wipe() }
            return (key, try VaultBody.decode(plain))
        } catch let error as BytesError {
            throw .corrupted(path: path, location: "keys: \(error)")
        } catch {
            throw .corrupted(path: path, location: "body: the seal is broken")
        }
    }

    /// Seals `entries` with a fresh nonce and puts them in the place of the file.
    static func write(
        _ entries: [String: VaultEntry],
        with key: VaultKey,
        to path: String,
        fileSystem: some FileSystem
    ) throws(KeychainError) {
        var random = SystemRandom()
        let file = try seal(entries, with: key, nonce: random.bytes(count: VaultHeader.nonceBytes))
        do {
            try AtomicFile.write(file, to: path, fileSystem: fileSystem)
        } catch {
            throw .unableToStore("\(error)")
        }
    }

    /// The bytes of a whole vault.
    static func seal(
        _ entries: [String: VaultEntry],
        with key: VaultKey,
        nonce: [UInt8]
    ) throws(KeychainError) -> [UInt8] {
        var plain = VaultBody.encode(entries)
        defer { plain.wipe() }
        let header = VaultHeader(
            derivation: key.derivation,
            salt: key.salt,
            keyCheck: key.check,
            nonce: nonce,
            bodyByteCount: plain.count + VaultHeader.tagBytes
        )
        guard header.bodyByteCount <= VaultHeader.bodyLimit else {
            throw .unableToStore("the vault would have more than \(VaultHeader.bodyLimit) bytes")
        }
        do {
            let box = try AES.GCM.seal(
                plain,
                using: key.body,
                nonce: AES.GCM.Nonce(data: nonce),
                authenticating: header.bytes
            )
            return header.bytes + box.ciphertext + box.tag
        } catch {
            throw .unableToStore("sealing failed: \(error)")
        }
    }
}
