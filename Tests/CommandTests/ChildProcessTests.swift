internal import Testing

@testable internal import runar

@Suite("Commands of services", .timeLimit(.minutes(15))) struct ChildProcessTests {
    @Test func `a command that is ended leaves nothing behind that it started`() async throws {
        // The shell starts a program of its own, which holds on to the output.
        let child = try ChildProcess("/bin/sh", ["-c", "echo up; sleep 600; true"], sink: .lines(errors: 2))
        var lines = child.lines.makeAsyncIterator()
        #expect(await lines.next() == "up")
        child.terminate()
        #expect(await lines.next() == nil)
        #expect(await child.waitForExit() == -15)
    }
}
