internal import Bytes
internal import Crypto
internal import Identity
internal import Platform

/// A file on its way in: a hidden partial file, named after sender and content, until it is whole and checked.
struct IncomingFile {
    let offer: FileOffer
    private(set) var received: UInt64 = 0
    private let directory: String
    private let partialPath: String
    private let fileSystem = SystemFileSystem()
    private let descriptor: Int32
    private var hash = SHA256()

    /// Takes up the partial file of an earlier attempt, or begins a new one; nil while another transfer writes it.
    ///
    /// - Throws: `FileError`.
    init?(_ offer: FileOffer, directory: String) throws(FileError) {
        self.offer = offer
        self.directory = directory
        let content = Hex.encode(Array(offer.sha256.prefix(16)))
        self.partialPath = FilePath.joining(directory, ".\(offer.peer.short)-\(content).part")
        let status = try self.fileSystem.status(of: self.partialPath, followingLink: false)
        if let status, status.kind == .file, UInt64(status.byteCount) > offer.byteCount {
            try self.fileSystem.remove(self.partialPath)  // it was another file
        }
        self.descriptor = try self.fileSystem.open(self.partialPath, for: .locking)
        do throws(FileError) {
            guard try self.fileSystem.lock(self.descriptor, path: self.partialPath) else {
                self.fileSystem.close(self.descriptor)
                return nil
            }
            try self.takeUp()
        } catch {
            self.fileSystem.close(self.descriptor)
            throw error
        }
    }

    /// Hashes what an earlier attempt left, which also moves to the end of it.
    private mutating func takeUp() throws(FileError) {
        while true {
            let chunk = try self.fileSystem.read(self.descriptor, count: 1 << 20, path: self.partialPath)
            if chunk.isEmpty { return }
            self.hash.update(data: chunk)
            self.received += UInt64(chunk.count)
        }
    }

    mutating func append(_ bytes: [UInt8]) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(try self.fileSystem.write(rest, to: self.descriptor, path: self.partialPath))
        }
        self.hash.update(data: bytes)
        self.received += UInt64(bytes.count)
    }

    /// Gives the whole file its name and returns its path, or throws it away if it is not what was offered (then nil).
    func finish() throws(FileError) -> String? {
        guard self.received == self.offer.byteCount, Array(self.hash.finalize()) == self.offer.sha256 else {
            try self.fileSystem.remove(self.partialPath)
            return nil
        }
        try self.fileSystem.synchronize(self.descriptor, path: self.partialPath)
        let path = try self.reservePath()
        try self.fileSystem.rename(self.partialPath, to: path)
        try self.fileSystem.synchronizeDirectory(self.directory)
        return path
    }

    func close() {
        self.fileSystem.close(self.descriptor)
    }

    /// Takes the offered name, numbered if it is taken, with an empty file of our own: nothing is ever overwritten.
    private func reservePath() throws(FileError) -> String {
        let name = self.offer.name
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        var number = 0
        while true {
            let suffix = number == 0 ? "" : " (\(number))"
            let path = FilePath.joining(self.directory, String(name[..<dot]) + suffix + String(name[dot...]))
            do throws(FileError) {
                self.fileSystem.close(try self.fileSystem.open(path, for: .creating))
                return path
            } catch {
                guard error.code == SystemErrors.exists else { throw error }
                number += 1
            }
        }
    }
}
