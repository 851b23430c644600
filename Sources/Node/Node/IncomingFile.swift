internal import Bytes
internal import Crypto
internal import Identity
internal import Platform

/// A file on its way in: a hidden partial file, named after sender and content, until it is whole and checked.
struct IncomingFile {
    /// The room that a transfer leaves on the disk, for the state of this node: at most this, or the part of the disk
    /// that ``reserveDivisor`` states.
    private static let reserveLimit: UInt64 = 16 << 20
    private static let reserveDivisor: UInt64 = 64

    let offer: FileOffer
    private(set) var received: UInt64 = 0
    private let directory: Int32
    private let directoryPath: String
    private let partial: FilePlace
    private let fileSystem = SystemFileSystem()
    private let descriptor: Int32
    private var hash = SHA256()

    /// Takes up the partial file of an earlier attempt, or begins a new one; nil while another transfer writes it.
    ///
    /// - Throws: `FileError`, with ``SystemErrors/noSpace`` when the disk has no room for the rest of the file.
    init?(_ offer: FileOffer, directory path: String) throws(FileError) {
        self.offer = offer
        directoryPath = path
        directory = try fileSystem.openDirectory(path)
        do throws(FileError) {
            let content = Hex.encode(Array(offer.sha256.prefix(16)))
            partial = try FilePlace(".\(offer.peer.short)-\(content).part", in: directory, of: path)
            descriptor = try Self.openPartial(partial, of: offer, fileSystem)
        } catch {
            fileSystem.close(directory)
            throw error
        }
        do throws(FileError) {
            guard try fileSystem.lock(descriptor, path: partial.path) else {
                close()
                return nil
            }
            try takeUp()
            try checkRoom()
        } catch {
            self.discard()
            close()
            throw error
        }
    }

    /// - Throws: `FileError` when the disk has no room for the rest of the file and the reserve.
    private func checkRoom() throws(FileError) {
        guard let room = fileSystem.room(in: directory) else { return }
        let reserve = min(Self.reserveLimit, room.total / Self.reserveDivisor)
        let missing = offer.byteCount - min(received, offer.byteCount)
        guard room.available >= reserve, missing <= room.available - reserve else {
            let path = FilePath.joining(directoryPath, offer.name)
            throw FileError(operation: "store", path: path, code: SystemErrors.noSpace)
        }
    }

    private static func openPartial(
        _ place: FilePlace,
        of offer: FileOffer,
        _ fileSystem: SystemFileSystem
    ) throws(FileError) -> Int32 {
        let status = try fileSystem.status(of: place.path, followingLink: false)
        if let status, status.kind == .file, UInt64(status.byteCount) > offer.byteCount {
            try fileSystem.remove(place)  // it was another file
        }
        return try fileSystem.open(place, for: .locking)
    }

    /// Hashes the bytes of an earlier attempt, which also moves the offset to their end.
    private mutating func takeUp() throws(FileError) {
        while true {
            let chunk = try fileSystem.read(descriptor, count: 1 << 20, path: partial.path)
            if chunk.isEmpty { return }
            hash.update(data: chunk)
            received += UInt64(chunk.count)
        }
    }

    mutating func append(_ bytes: [UInt8]) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(try fileSystem.write(rest, to: descriptor, path: partial.path))
        }
        hash.update(data: bytes)
        received += UInt64(bytes.count)
    }

    /// Gives the complete file its name and returns its path; nil if it differs from the offer, and it is deleted then.
    func finish() throws(FileError) -> String? {
        guard received == offer.byteCount, Array(hash.finalize()) == offer.sha256 else {
            try fileSystem.remove(partial)
            return nil
        }
        try fileSystem.synchronize(descriptor, path: partial.path)
        let place = try reservePlace()
        do throws(FileError) {
            try fileSystem.rename(partial, to: place)
        } catch {
            try? fileSystem.remove(place)  // the empty file that reserved the name; the first failure counts
            throw error
        }
        try fileSystem.synchronize(directory, path: directoryPath)
        return place.path
    }

    /// Removes the partial file, which nothing will complete.
    func discard() {
        try? fileSystem.remove(partial)  // the cause is reported; an old partial file is removed at a start
    }

    func close() {
        fileSystem.close(descriptor)
        fileSystem.close(directory)
    }

    /// Takes the offered name, numbered if it is taken, with an empty file of our own: nothing is ever overwritten.
    private func reservePlace() throws(FileError) -> FilePlace {
        let name = offer.name
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        var number = 0
        while true {
            let suffix = number == 0 ? "" : " (\(number))"
            let numbered = String(name[..<dot]) + suffix + String(name[dot...])
            let place = try FilePlace(numbered, in: directory, of: directoryPath)
            do throws(FileError) {
                fileSystem.close(try fileSystem.open(place, for: .creating))
                return place
            } catch {
                guard error.code == SystemErrors.exists else { throw error }
                number += 1
            }
        }
    }
}
