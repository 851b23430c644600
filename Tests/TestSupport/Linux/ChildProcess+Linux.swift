#if os(Linux)
package import Foundation

extension ChildProcess {
    /// How files of shared libraries end.
    package static let librarySuffix = "so"

    /// Where the executables of the package's targets lie.
    package static var products: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
#endif
