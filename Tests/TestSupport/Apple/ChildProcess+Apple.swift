#if canImport(Darwin)
internal import Foundation

extension ChildProcess {
    /// Where the executables of the package's targets lie.
    static var products: URL {
        Bundle(for: ChildProcess.self).bundleURL.deletingLastPathComponent()
    }
}
#endif
