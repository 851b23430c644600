package import Failures
internal import Libc

/// Why a process keeps its privileges.
package struct PrivilegeError: Error, Hashable, Sendable {
    /// The system call that failed, or `setuid` if the process could become the superuser again.
    package let call: String
    /// The error number of the system.
    package let code: Int32
}

extension PrivilegeError: CodedError, CustomStringConvertible {
    /// The failure in words, with the next step.
    package var description: String {
        "this process cannot drop its privileges (\(call): \(SystemErrors.text(of: code))); "
            + "start it as the superuser, or as the user that it should run as"
    }

    package var failureCode: FailureCode { FailureCode("no-privilege-drop", .unknown, .notPermitted) }
}

extension SystemProcess {
    /// Makes this process act as another user for the rest of its life, in the user's group alone.
    ///
    /// `posix_spawn` starts no program as another user. A program that a privileged process starts therefore calls this
    /// first, once it has opened or inherited its privileged descriptors. All threads change; on Linux the capabilities
    /// are lost. A process of another user than the superuser can keep its own user alone.
    ///
    /// - Throws: ``PrivilegeError``; the process may have lost a part of its privileges then, and should end.
    package static func dropPrivileges(to user: SystemUser) throws(PrivilegeError) {
        if geteuid() == 0 {
            var group = gid_t(user.group)
            try check(unsafe setgroups(1, &group), "setgroups")
        }
        try check(setgid(gid_t(user.group)), "setgid")
        try check(setuid(uid_t(user.id)), "setuid")
        // A saved user or group would remain if the calls had changed the effective ones alone.
        guard user.id == 0 || (setuid(0) != 0 && seteuid(0) != 0) else {
            throw PrivilegeError(call: "setuid", code: EPERM)
        }
    }

    private static func check(_ status: Int32, _ call: String) throws(PrivilegeError) {
        guard status == 0 else { throw PrivilegeError(call: call, code: errno) }
    }
}
