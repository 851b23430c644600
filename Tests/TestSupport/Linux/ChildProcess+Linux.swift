#if os(Linux)
package import Foundation

extension ChildProcess {
    /// Where the executables of the package's targets lie.
    package static var products: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
#endif
