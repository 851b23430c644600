#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// Access to a running node: only its own user, as identified by the kernel, has it, whatever the file modes allow.
@Suite("Users of the control socket", .aside) struct ControlUserTests {
    private static let tools = ["/usr/bin/setpriv", "/usr/bin/perl"]
    private static var canBeOthers: Bool {
        geteuid() == 0 && self.tools.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Requests the status over HTTP and prints the number of received bytes.
    private static let question = """
        use Socket;
        socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die; connect($s, sockaddr_un("control.sock")) or die;
        $SIG{PIPE} = "IGNORE";
        syswrite($s, "GET /api/v1/status HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n");
        my $count = sysread($s, my $bytes, 1); print defined $count ? $count : 0, "\\n";
        """

    private func answer(to user: Int, in home: TemporaryDataDirectory) throws -> String? {
        let command = "cd \"$0\" && exec setpriv --reuid=\(user) --regid=\(user) --clear-groups perl -e \"$1\""
        let asker = try ChildProcess(path: "/bin/sh", arguments: ["-c", command, home.path, Self.question])
        defer { _ = asker.waitUntilExit() }
        return asker.nextLine()
    }

    @Test(.enabled(if: canBeOthers, "to be another user takes root, setpriv and perl"))
    func `another user is not heard, whatever the modes of the files allow`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        for (file, mode) in [("", 0o755), ("/control.sock", 0o666)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: home.path + file)
        }
        #expect(try self.answer(to: 0, in: home) == "1")
        #expect(try self.answer(to: 65_534, in: home) == "0")
        #expect(node.end(by: SIGTERM) == 0)
    }
}
#endif
