internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import Platform

@Suite("Home directory") struct DataDirectoryTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    private func mode(_ path: String) throws -> UInt32? {
        try SystemFileSystem().status(of: path, followingLink: false)?.mode
    }

    @Test func `the environment determines the home directory`() throws {
        #expect(try DataDirectory.place { ["RUNAR_HOME": "/a", "HOME": "/b"][$0] } == "/a")
        let place = try DataDirectory.place { ["HOME": "/b"][$0] }
        #expect(place == "/b/\(SystemProcess.dataDirectory)")
        #expect(try DataDirectory.place { ["RUNAR_HOME": "", "HOME": "/b/"][$0] } == place)
        #expect(throws: DataDirectoryError.noPlace) { try DataDirectory.place { _ in nil } }
        #expect(throws: DataDirectoryError.notAbsolute("a")) { try DataDirectory.place { _ in "a" } }
    }

    @Test func `the home directory is created with its parents, for the user only`() throws {
        let home = try DataDirectory(at: scratch.file("a/b/c/"))
        #expect(home.path == scratch.file("a/b/c"))
        for part in ["a", "a/b", "a/b/c"] { #expect(try mode(scratch.file(part)) == 0o700, "\(part)") }
        #expect(home.file("x") == scratch.file("a/b/c/x"))
        #expect(try DataDirectory(at: scratch.file("a/b/c")) == home)
    }

    @Test func `a directory open to others is refused with the command that closes it`() throws {
        try scratch.setMode(0o755, of: "")
        #expect {
            try DataDirectory(at: scratch.path)
        } throws: { error in
            "\(error)".contains("mode 755") && "\(error)".contains("chmod 700 \(scratch.path)")
        }
    }

    @Test func `a file open to others is refused with the command that closes it`() throws {
        try scratch.write([1], to: "it's open", mode: 0o640)
        #expect {
            try DataDirectory(at: scratch.path)
        } throws: { error in
            "\(error)".contains(#"chmod 600 '\#(scratch.path)/it'\''s open'"#)
        }
        try scratch.setMode(0o600, of: "it's open")
        _ = try DataDirectory(at: scratch.path)
    }

    @Test func `a home of another user is refused with the command that changes its owner`() throws {
        let disk = SimulatedDisk(["/": []], isForeign: true)
        #expect {
            try DataDirectory(at: "/", fileSystem: disk)
        } throws: { error in
            error as? DataDirectoryError == .foreign(path: "/", owner: 2, user: 1)
                && "\(error)".contains("chown -R 1 /")
        }
    }

    @Test(arguments: ["/", "/srv/data"])
    func `root leaves the directories of another user alone and is advised to run without sudo`(path: String) {
        let disk = SimulatedDisk(["/": []], isForeign: true, userId: 0)
        #expect {
            try DataDirectory(at: path, fileSystem: disk)
        } throws: { error in
            error as? DataDirectoryError == .foreign(path: "/", owner: 2, user: 0)
                && "\(error)".contains("without sudo") && !"\(error)".contains("chown")
        }
    }

    @Test func `a file in place of the home directory is refused`() throws {
        try scratch.write([1], to: "a")
        #expect(throws: DataDirectoryError.notADirectory(scratch.file("a"))) {
            try DataDirectory(at: scratch.file("a"))
        }
        #expect(throws: DataDirectoryError.self) { try DataDirectory(at: scratch.file("a/b")) }
        #expect(throws: DataDirectoryError.notAbsolute("a")) { try DataDirectory(at: "a") }
    }

    @Test func `a second node is refused with the number of the first`() throws {
        let home = try DataDirectory(at: scratch.path)
        var lock: FileLock? = try home.lockForNode()
        let expected = DataDirectoryError.inUse(path: scratch.path, byProcess: getpid())
        #expect(throws: expected) { try home.lockForNode() }
        #expect(expected.description.contains("process \(getpid())"))
        #expect(lock != nil)
        lock = nil
        _ = try home.lockForNode()
        _ = try DataDirectory(at: scratch.path)
    }
}
