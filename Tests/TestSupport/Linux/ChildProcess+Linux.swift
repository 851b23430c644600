#if os(Linux)
internal import Foundation

extension ChildProcess {
    /// Where the executables of the package's targets lie.
    static var products: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
#endif
