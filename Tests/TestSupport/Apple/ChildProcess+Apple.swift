#if canImport(Darwin)
package import Foundation

extension ChildProcess {
    /// The file extension of shared libraries.
    package static let librarySuffix = "dylib"

    /// The folder that contains the executables of the package's targets.
    package static var products: URL {
        Bundle(for: ChildProcess.self).bundleURL.deletingLastPathComponent()
    }
}
#endif
