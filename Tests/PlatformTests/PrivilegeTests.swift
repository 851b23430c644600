internal import Libc
internal import Platform
internal import TestSupport
internal import Testing

@Suite("Privileges", .timeLimit(.minutes(5))) struct PrivilegeTests {
    private static let isSuperuser = SystemUser.current.id == 0

    @Test(.enabled(if: isSuperuser, "only the superuser can become another user"))
    func `a process that became another user cannot become root or a third one`() throws {
        let user = try #require(SystemUser(named: "daemon"))
        let probe = try ChildProcess("PrivilegeProbe", arguments: ["daemon"])
        #expect(probe.nextLine() == "\(user.id) \(user.group) [\(user.group)]")
        #expect(probe.nextLine() == "again")
        #expect(probe.nextLine() == "setgid \(EPERM)")
        #expect(probe.nextLine() == "setuid \(EPERM)")
        #expect(probe.waitUntilExit() == 0)
    }

    @Test func `a user is found by name`() throws {
        let root = try #require(SystemUser(named: "root"))
        #expect(root.id == 0)
        #expect(SystemUser(named: "no such user") == nil)
    }
}
