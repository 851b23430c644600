internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import Platform

@Suite("Files") struct FileTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    @Test func `a file is replaced atomically and readable by its user only`() throws {
        try AtomicFile.write([1, 2, 3], to: scratch.file("a"))
        try AtomicFile.write([4], to: scratch.file("a"))
        #expect(try scratch.bytes("a") == [4])
        #expect(try scratch.names() == ["a"])
        let status = try SystemFileSystem().status(of: scratch.file("a"), followingLink: false)
        #expect(status?.mode == 0o600)
        try AtomicFile.write([5], to: scratch.file("public"), mode: 0o644)
        #expect(try SystemFileSystem().status(of: scratch.file("public"), followingLink: false)?.mode == 0o644)
    }

    @Test func `a long file is written in pieces`() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let disk = SimulatedDisk(longestWrite: 4_096)
        try AtomicFile.write(bytes, to: "/a", fileSystem: disk)
        #expect(disk.image == ["/a": bytes])
        #expect(try AtomicFile.read("/a", limit: 300_000, fileSystem: disk) == bytes)
    }

    @Test func `reading is bounded and distinguishes a missing file from an error`() throws {
        try scratch.write([1, 2, 3], to: "a")
        #expect(try AtomicFile.read(scratch.file("a"), limit: 3) == [1, 2, 3])
        #expect(try AtomicFile.read(scratch.file("b"), limit: 3) == nil)
        #expect(throws: FileError(operation: "read", path: scratch.file("a"), code: EFBIG)) {
            try AtomicFile.read(scratch.file("a"), limit: 2)
        }
        #expect(throws: FileError.self) { try AtomicFile.read(scratch.path, limit: 2) }
    }

    @Test func `a link is neither read nor written through`() throws {
        try scratch.write([1], to: "real")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("link"),
            withDestinationPath: scratch.file("real")
        )
        #expect(throws: FileError(operation: "open", path: scratch.file("link"), code: ELOOP)) {
            try AtomicFile.read(scratch.file("link"), limit: 9)
        }
        try AtomicFile.write([2], to: scratch.file("link"))
        #expect(try scratch.bytes("real") == [1])
        #expect(try scratch.bytes("link") == [2])
    }

    @Test func `a file that a person names may be a link`() throws {
        try scratch.write([1], to: "real")
        let link = scratch.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real")
        #expect(try AtomicFile.read(named: link, limit: 9) == [1])
        #expect(throws: FileError(operation: "read", path: link, code: EFBIG)) {
            try AtomicFile.read(named: link, limit: 0)
        }
        try FileManager.default.removeItem(atPath: scratch.file("real"))
        #expect(try AtomicFile.read(named: link, limit: 9) == nil)
    }

    @Test func `changes of watched files are taken over once each`() throws {
        let paths = ["first", "second"].map { scratch.file($0) }
        try AtomicFile.write([1], to: paths[0])
        var files = WatchedFiles(paths)
        func look() -> [WatchedFiles.Outcome?] { [files.takeOver {}, files.takeOver {}] }
        #expect(look() == [nil, nil])
        // In place, with the same size, and most often in the same second: the system's time of a file has steps of some
        // milliseconds.
        let time = try SystemFileSystem().status(of: paths[0], followingLink: true)
        while try SystemFileSystem().status(of: paths[0], followingLink: true) == time {
            try scratch.write([9], to: "first")
        }
        #expect(look() == [.taken, nil])
        // A file of the same second and size in its place.
        try AtomicFile.write([2], to: paths[0])
        #expect(look() == [.taken, nil])
        try scratch.write([3], to: "second")
        #expect(look() == [.taken, nil])
        try FileManager.default.removeItem(atPath: paths[1])
        #expect(look() == [.taken, nil])
        // As certbot renews: a link in place of the file leads to another one.
        try FileManager.default.createSymbolicLink(atPath: paths[1], withDestinationPath: paths[0])
        #expect(look() == [.taken, nil])
        try AtomicFile.write([4], to: paths[0])
        #expect(look() == [.taken, nil])
    }

    @Test func `watched files that are refused are tried again, and each refusal is reported once`() throws {
        try AtomicFile.write([1], to: scratch.file("a"))
        var (files, attempts) = (WatchedFiles([scratch.file("a")]), 0)
        func look(_ reason: String?) -> WatchedFiles.Outcome? {
            files.takeOver {
                attempts += 1
                if let reason { throw KeychainError.unableToRead(reason) }
            }
        }
        #expect(look("never") == nil && attempts == 0)
        try AtomicFile.write([2], to: scratch.file("a"))
        let refusals = ["full", "full", "late", "full"].map { look($0) }
        #expect(refusals.map { $0 == nil } == [false, true, false, false] && attempts == 4)
        #expect(look(nil) == .taken)
        #expect(look("never") == nil && attempts == 5)
    }

    @Test func `files created in an open directory stay there if its path changes`() throws {
        let files = SystemFileSystem()
        for name in ["chosen", "elsewhere"] { try files.makeDirectory(scratch.file(name), mode: 0o700) }
        let directory = try files.openDirectory(scratch.file("chosen"))
        defer { files.close(directory) }
        let place = try FilePlace("a", in: directory, of: scratch.file("chosen"))
        try files.rename(scratch.file("chosen"), to: scratch.file("moved"))
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("chosen"),
            withDestinationPath: scratch.file("elsewhere")
        )
        files.close(try files.open(place, for: .creating))
        try files.rename(place, to: FilePlace("b", in: directory, of: scratch.file("chosen")))
        #expect(try files.names(in: scratch.file("moved")) == ["b"])
        #expect(try files.names(in: scratch.file("elsewhere")).isEmpty)
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("moved/a"),
            withDestinationPath: scratch.file("elsewhere/a")
        )
        for use in [FileUse.creating, .locking, .reading] {
            #expect(throws: FileError.self) { try files.open(place, for: use) }
        }
        try files.remove(place)
        #expect(try files.names(in: scratch.file("moved")) == ["b"])
        #expect(try files.names(in: scratch.file("elsewhere")).isEmpty)
    }

    /// Replaces a file in two pieces, which is several calls of the system.
    private func replace(on disk: SimulatedDisk) throws(FileError) {
        let writer = try AtomicFileWriter("/file", fileSystem: disk)
        try writer.write(Array("new ".utf8))
        try writer.write(Array("bytes".utf8))
        try writer.commit()
    }

    @Test(arguments: [Int.max, 3])
    func `power lost after any call leaves the old file or the new one`(longestWrite: Int) throws {
        let (old, new) = (Array("old bytes".utf8), Array("new bytes".utf8))
        var outcomes: Set<[UInt8]> = []
        for point in 0... {
            let disk = SimulatedDisk(["/file": old], fault: .powerLoss(after: point), longestWrite: longestWrite)
            let isAcknowledged = (try? replace(on: disk)) != nil  // power loss: see below
            for image in disk.imagesAfterPowerLoss {
                let found = try #require(image["/file"])
                #expect(found == new || (found == old && !isAcknowledged), "after call \(point)")
                outcomes.insert(found)
                let again = SimulatedDisk(image)
                try AtomicFile.removeLeftovers(of: "/file", fileSystem: again)
                #expect(again.image == ["/file": found])
            }
            if isAcknowledged { break }
        }
        #expect(outcomes == [old, new])
    }

    @Test func `a failed call leaves the old file or the new one and no other file`() throws {
        let (old, new) = (Array("old bytes".utf8), Array("new bytes".utf8))
        for point in 0... {
            let disk = SimulatedDisk(["/file": old], fault: .failure(at: point))
            let isAcknowledged = (try? replace(on: disk)) != nil  // an error is not acknowledged
            #expect(disk.image == ["/file": new] || (disk.image == ["/file": old] && !isAcknowledged), "call \(point)")
            if isAcknowledged, disk.calls <= point { break }
        }
    }

    @Test(arguments: ["", ".", "..", "a/b", "/a", "a/\u{301}b", "a\0b"])
    func `a place is one name`(name: String) {
        #expect(throws: FileError.self) { try FilePlace(name, in: -1, of: "/directory") }
    }

    @Test func `an error states the operation, the path and advice`() {
        let error = FileError(operation: "open", path: "/a\u{1B}b", code: EACCES)
        #expect(
            error.description
                == #"cannot open "/a\u{1B}b": Permission denied; check who owns the file and its directory"#
        )
    }

    @Test func `paths are split and joined`() {
        #expect(FilePath.directory(of: "/a/b") == "/a")
        #expect(FilePath.directory(of: "/a") == "/")
        #expect(FilePath.directory(of: "/a//b/") == "/a")
        #expect(FilePath.directory(of: "a") == ".")
        #expect(FilePath.name(of: "/a/b") == "b")
        #expect(FilePath.name(of: "b") == "b")
        #expect(FilePath.joining("/", "b") == "/b")
        #expect(FilePath.joining("/a", "b") == "/a/b")
        #expect(FilePath.shellQuoted("/a/b-1.c") == "/a/b-1.c")
        #expect(FilePath.shellQuoted("/Application Support/it's") == #"'/Application Support/it'\''s'"#)
        #expect(FilePath.shellQuoted("/a'\u{301}; b") == "'/a'\\''\u{301}; b'")
    }

    @Test func `a lock has one holder, names it and is free after its release`() throws {
        let path = scratch.file("lock")
        var first: FileLock? = try FileLock(path: path)
        #expect(throws: FileLock.Failure.held(byProcess: getpid())) { try FileLock(path: path) }
        #expect(first?.path == path)
        first = nil
        _ = try FileLock(path: path)
    }

    @Test func `an unreadable lock file names no holder`() throws {
        try scratch.write([UInt8]("what is this".utf8), to: "lock")
        let first = try FileLock(path: scratch.file("lock"))
        try scratch.write([UInt8]("what is this".utf8), to: "other")
        #expect(first.path == scratch.file("lock"))
        let disk = SimulatedDisk(["/lock": [UInt8]("        -7\n".utf8)])
        let descriptor = try disk.open("/lock", for: .locking)
        #expect(try disk.lock(descriptor, path: "/lock"))
        #expect(throws: FileLock.Failure.held(byProcess: nil)) { try FileLock(path: "/lock", fileSystem: disk) }
    }
}
