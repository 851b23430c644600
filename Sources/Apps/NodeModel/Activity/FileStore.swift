internal import Bytes
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import Identity
internal import Node
internal import Platform
internal import RunarNode

/// The files that peers sent, and those that they want to send.
package final class FileStore: Sendable {
    /// A file that a peer wants to send.
    package struct Offer: Codable, Hashable, Sendable {
        /// The number that the answer refers to.
        let number: Int
        let peerId: String
        let networkId: String
        let label: String?
        let name: String
        let bytes: UInt64
        /// Milliseconds since 1970.
        let at: UInt64
    }

    /// A file that arrived.
    package struct File: Codable, Hashable, Sendable {
        /// The encoded path.
        let id: String
        let name: String
        let bytes: Int
        /// Milliseconds since 1970.
        let at: UInt64
        /// Nil for one that arrived before the node was started.
        let peerId: String?
        let label: String?
    }

    /// The files that arrived, and the directory for accepted ones.
    package struct Content: Codable {
        let directory: String
        let files: [File]

        package init(directory: String, files: [File]) {
            self.directory = directory
            self.files = files
        }
    }

    /// Offers that wait for an answer.
    package struct Waiting: Codable {
        let offers: [Offer]

        package init(offers: [Offer]) {
            self.offers = offers
        }
    }

    struct State: Sendable {
        var offers: [Offer] = []
        /// The senders of the files, by path.
        var senders: [String: (peerId: String, label: String?)] = [:]
        /// The times of the last progress reports in milliseconds since 1970, by peer and file name.
        var told: [String: UInt64] = [:]

        /// Whether a report about a file is due, which is noted.
        ///
        /// A time of more than `pause` ago has no effect and is removed, also that of a file that never arrived.
        mutating func noteProgress(of key: String, at now: UInt64, pause: UInt64, limit: Int) -> Bool {
            if let last = told[key], now < last + pause { return false }
            if told.count >= limit { told = told.filter { now < $0.value + pause } }
            if told.count >= limit { told = [:] }
            told[key] = now
            return true
        }
    }

    /// The directory for files that a person accepts.
    package static let directoryName = HomeFile.receivedFiles.rawValue
    /// Senders that are remembered.
    private static let senderLimit = 10_000
    /// Milliseconds between two words about the progress of a file.
    private static let progressPause: UInt64 = 100
    /// Files in progress whose last report is stored; beyond that they are reported more often.
    private static let toldLimit = 256

    package let directory: String
    /// The directory for files that a standing order accepts; nil for none.
    private let standing: String?
    private let activity: Activity
    private let label: @Sendable (PeerId) -> String?
    private let state = Locked(State())

    init(home: DataDirectory, standing: String?, activity: Activity, label: @escaping @Sendable (PeerId) -> String?) {
        directory = home.file(Self.directoryName)
        self.standing = standing
        self.activity = activity
        self.label = label
    }

    /// The listener that asks the person while a page is open.
    var listener: FileOffers.Listener {
        FileOffers.Listener(
            directory: nil,
            ask: { self.note($0) },
            isPresent: { self.activity.isWatched },
            settled: { number, _ in self.forget(number) },
            progress: { self.note($0) },
            failed: { self.note($0) }
        )
    }

    /// The offers that wait, the oldest first.
    package var offers: [Offer] { state.withLock { $0.offers } }

    /// Creates the directory for files if it does not exist.
    ///
    /// - Throws: ``FileError``.
    package func makeDirectory() throws -> String {
        let fileSystem = SystemFileSystem()
        if try fileSystem.status(of: directory, followingLink: false) == nil {
            try fileSystem.makeDirectory(directory, mode: 0o700)
        }
        return directory
    }

    /// Returns the files that arrived, the newest first.
    ///
    /// - Throws: ``FileError`` when a directory cannot be listed.
    package func files() throws -> [File] {
        var files: [File] = []
        for place in [directory, standing].compactMap(\.self) {
            for path in try Self.paths(in: place) { files += file(at: path).map { [$0] } ?? [] }
        }
        return files.sorted { ($0.at, $0.id) > ($1.at, $1.id) }
    }

    /// Returns the path of a file that arrived.
    ///
    /// - Throws: ``CommandFailure`` for an unknown id, ``FileError``.
    package func path(of id: String) throws -> String {
        for place in [directory, standing].compactMap(\.self) {
            if let path = try Self.paths(in: place).first(where: { Self.id(of: $0) == id }) { return path }
        }
        throw CommandFailure("no-such-file", .noInput, "the file no longer exists: reload the list")
    }

    /// - Throws: ``CommandFailure``, ``FileError``.
    package func remove(_ id: String) throws {
        try SystemFileSystem().remove(try path(of: id))
    }

    // MARK: Reports

    private func note(_ report: FileOfferReport) {
        let offer = Offer(
            number: report.number,
            peerId: report.peerId,
            networkId: report.networkId,
            label: PeerId(report.peerId).flatMap(label),
            name: report.name,
            bytes: report.bytes,
            at: activity.now
        )
        state.withLock { $0.offers.append(offer) }
        activity.tell(ActivityFileOffered(offer: offer))
    }

    private func forget(_ number: Int) {
        state.withLock { $0.offers.removeAll { $0.number == number } }
        activity.tell(ActivityOfferEnded(number: number))
    }

    private func note(_ progress: FileProgress) {
        let peer = progress.peer.base64Encoded
        let key = "\(peer)/\(progress.name)"
        guard let path = progress.path else {
            let now = activity.now
            let isDue = state.withLock { state in
                state.noteProgress(of: key, at: now, pause: Self.progressPause, limit: Self.toldLimit)
            }
            guard isDue else { return }
            let step = ActivityFileProgress(
                peerId: peer,
                name: progress.name,
                count: progress.transferred,
                total: progress.total
            )
            return activity.tell(step)
        }
        let name = label(progress.peer)
        state.withLock { state in
            state.told[key] = nil
            if state.senders.count >= Self.senderLimit { state.senders = [:] }
            state.senders[path] = (peer, name)
        }
        if let file = file(at: path) { activity.tell(ActivityFileArrived(file: file, offeredName: progress.name)) }
    }

    private func note(_ failure: FileFailure) {
        let report = FileFailedReport(failure)
        let line = ActivityFileFailed(
            peerId: report.peerId,
            label: label(failure.offer.peer),
            name: report.name,
            total: report.bytes,
            code: report.code,
            reason: report.reason
        )
        activity.tell(line)
    }

    private func file(at path: String) -> File? {
        // A file that was just moved away does not exist here.
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }  // see above
        let sender = state.withLock { $0.senders[path] }
        let date = facts[.modificationDate] as? Date ?? Date(timeIntervalSince1970: 0)
        return File(
            id: Self.id(of: path),
            name: FilePath.name(of: path),
            bytes: (facts[.size] as? NSNumber)?.intValue ?? 0,
            at: UInt64(min(max(0, date.timeIntervalSince1970), Double(UnixTime.maximum)) * 1000),
            peerId: sender?.peerId,
            label: sender?.label
        )
    }

    /// The complete files of a directory; a hidden one is still being received.
    private static func paths(in directory: String) throws -> [String] {
        let fileSystem = SystemFileSystem()
        guard try fileSystem.status(of: directory, followingLink: true) != nil else { return [] }
        return try fileSystem.names(in: directory).filter { $0.utf8.first != UInt8(ascii: ".") }.sorted()
            .map { FilePath.joining(directory, $0) }
            .filter { try fileSystem.status(of: $0, followingLink: false)?.kind == .file }
    }

    private static func id(of path: String) -> String { Base64URL.encode(Array(path.utf8)) }
}
