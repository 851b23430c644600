#if os(Linux)
package import Foundation

extension ChildProcess {
    /// The file extension of shared libraries.
    package static let librarySuffix = "so"

    /// The folder that contains the executables of the package's targets.
    package static var products: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
#endif
