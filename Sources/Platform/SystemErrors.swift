internal import Libc

/// The error numbers of this system that the code above treats in a way of their own.
package enum SystemErrors {
    package static let notFound = ENOENT
    package static let exists = EEXIST
    package static let accessDenied = EACCES
    package static let noSpace = ENOSPC
    package static let overQuota = EDQUOT
    package static let readOnly = EROFS
    package static let isLink = ELOOP
    package static let tooLarge = EFBIG
    package static let inputOutput = EIO
    package static let invalid = EINVAL

    /// The system's words for an error number.
    package static func text(of code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
