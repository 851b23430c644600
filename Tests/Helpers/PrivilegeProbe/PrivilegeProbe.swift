internal import Libc
internal import Platform

/// Becomes another user, tries to become further ones, and prints what it is after each step.
///
/// `PrivilegeProbe <user>` prints `<user number> <group number> <groups>` after the change, `again` if a second change to
/// the same user succeeds, and for each of root and another user `<call> <error number>`, or `changed`.
@main struct PrivilegeProbe {
    static func main() {
        guard CommandLine.arguments.count == 2, let user = SystemUser(named: CommandLine.arguments[1]) else { exit(64) }
        do {
            try SystemProcess.dropPrivileges(to: user)
            var groups = [gid_t](repeating: 0, count: 64)
            let count = unsafe getgroups(64, &groups)
            print(getuid(), getgid(), groups.prefix(Int(max(count, 0))))
            try SystemProcess.dropPrivileges(to: user)
            print("again")
        } catch {
            print(error.call, error.code)
        }
        for other in [SystemUser(id: 0, group: 0), SystemUser(id: user.id + 1, group: user.group)] {
            do {
                try SystemProcess.dropPrivileges(to: other)
                print("changed")
            } catch {
                print(error.call, error.code)
            }
        }
    }
}
