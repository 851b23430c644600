internal import Libc

/// A user of the system, with the group that its processes have.
package struct SystemUser: Hashable, Sendable {
    /// The number of the user.
    package let id: UInt32
    /// The number of the group.
    package let group: UInt32

    /// The user and group that own nothing: those that Linux reports for numbers that it cannot represent.
    package static let unprivileged = SystemUser(id: 65_534, group: 65_534)

    /// The largest record of a user that is read, in bytes; NSS needs 1 KiB on ordinary systems.
    private static let recordByteLimit = 16 * 1024

    package init(id: UInt32, group: UInt32) {
        self.id = id
        self.group = group
    }

    /// Looks up a user and its primary group by name; nil if the system has none of that name.
    package init?(named name: String) {
        var record = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var text = [CChar](repeating: 0, count: Self.recordByteLimit)
        let code = unsafe getpwnam_r(name, &record, &text, text.count, &found)
        guard unsafe code == 0 && found != nil else { return nil }
        self.init(id: unsafe record.pw_uid, group: unsafe record.pw_gid)
    }

    /// The user and group that this process acts as.
    package static var current: SystemUser { SystemUser(id: geteuid(), group: getegid()) }
}
