internal import Foundation
internal import Libc
internal import Platform
internal import TestSupport
internal import Testing

/// Starts `sh`, since a program's descriptors are seen from inside it alone; `bash` where numbers have several digits.
@Suite("Starting programs", .serialized, .timeLimit(.minutes(5))) struct SpawningTests {
    /// A file with this text alone, open for reading.
    private func file(_ text: String) throws -> DescriptorOwner {
        let pipe = try #require(Posix.makePipe())
        let write = DescriptorOwner(pipe.write)
        write.write([UInt8](text.utf8))
        return DescriptorOwner(pipe.read)
    }

    /// Runs a script with some descriptors, and returns its output.
    private func output(of script: String, passing passed: [Posix.PassedDescriptor] = []) throws -> String {
        let pipe = try #require(Posix.makePipe())
        let read = DescriptorOwner(pipe.read)
        let id: Int32?
        do {
            let write = DescriptorOwner(pipe.write)
            let none = DescriptorOwner(Posix.openForReading("/dev/null"))
            id = Posix.spawn(
                "/bin/sh",
                ["-c", script],
                ["PATH=/usr/bin:/bin"],
                input: none.descriptor,
                output: write.descriptor,
                errors: 2,
                passing: passed
            )
        }
        let process = try #require(id)
        var bytes: [UInt8] = []
        while case let part = Posix.read(read.descriptor, atMost: 4_096), !part.isEmpty { bytes += part }
        #expect(Posix.reap(process) == 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a passed descriptor has its number in the program`() throws {
        let file = try file("seven")
        #expect(try output(of: "cat <&7", passing: [.init(file.descriptor, as: 7)]) == "seven")
    }

    @Test func `descriptors exchange their numbers`() throws {
        let (first, second) = try (file("first"), file("second"))
        let script = "cat <&\(first.descriptor); echo; cat <&\(second.descriptor)"
        let passed: [Posix.PassedDescriptor] = [
            .init(first.descriptor, as: second.descriptor), .init(second.descriptor, as: first.descriptor),
        ]
        #expect(try output(of: "exec /bin/bash -c '\(script)'", passing: passed) == "second\nfirst")
    }

    @Test func `a descriptor keeps its own number`() throws {
        let file = try file("kept")
        let script = "exec /bin/bash -c 'cat <&\(file.descriptor)'"
        #expect(try output(of: script, passing: [.init(file.descriptor, as: file.descriptor)]) == "kept")
    }

    @Test func `a descriptor is passed under two numbers`() throws {
        let file = try file("a\nb\n")
        let passed: [Posix.PassedDescriptor] = [.init(file.descriptor, as: 5), .init(file.descriptor, as: 6)]
        #expect(try output(of: "read x <&5; read y <&6; echo $x$y", passing: passed) == "ab\n")
    }

    @Test func `a passed descriptor replaces one of this process`() throws {
        let (passed, other) = try (file("passed"), file("other"))
        let script = "exec /bin/bash -c 'cat <&\(other.descriptor)'"
        #expect(try output(of: script, passing: [.init(passed.descriptor, as: other.descriptor)]) == "passed")
        #expect(Posix.read(other.descriptor, atMost: 5) == [UInt8]("other".utf8))
    }

    @Test func `other descriptors are closed in the program`() throws {
        let (passed, near) = try (file("passed"), file("other"))
        // Neither the number of the passed one, nor one at which the shell keeps its standard error meanwhile.
        let other = DescriptorOwner(fcntl(near.descriptor, F_DUPFD_CLOEXEC, 100))
        try #require(other.descriptor >= 100)
        let script = "exec /bin/bash -c '{ cat <&\(other.descriptor); } 2>/dev/null || echo closed'"
        #expect(try output(of: script, passing: [.init(passed.descriptor, as: 9)]) == "closed\n")
    }

    @Test func `a closed descriptor is a failure`() {
        let id = Posix.spawn("/bin/true", [], [], input: 0, output: 1, errors: 2, passing: [.init(-1, as: 3)])
        #expect(id == nil)
        #expect(Posix.lastErrorCode == EBADF)
    }

    @Test func `a missing program is a failure with its reason`() {
        #expect(Posix.spawn("/nonexistent/program", [], [], input: 0, output: 1, errors: 2) == nil)
        #expect(Posix.lastErrorCode == ENOENT)
    }
}
