package import Logging
package import Platform

extension WatchedFiles {
    /// As ``takeOver(_:)``, with a line in the log for each outcome.
    package mutating func takeOver(logging logger: Logger, _ load: () throws -> Void) {
        let list = paths.joined(separator: ", ")
        switch takeOver(load) {
        case .taken: logger.notice("changed files are in use", metadata: ["files": "\(list)"])
        case .refused(let reason):
            logger.error("changed files are not used", metadata: ["files": "\(list)", "error": "\(reason)"])
        case nil: break
        }
    }
}
