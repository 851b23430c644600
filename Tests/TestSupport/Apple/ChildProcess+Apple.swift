#if canImport(Darwin)
package import Foundation

extension ChildProcess {
    /// Where the executables of the package's targets lie.
    package static var products: URL {
        Bundle(for: ChildProcess.self).bundleURL.deletingLastPathComponent()
    }
}
#endif
