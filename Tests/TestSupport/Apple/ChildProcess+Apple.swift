#if canImport(Darwin)
package import Foundation

extension ChildProcess {
    /// How files of shared libraries end.
    package static let librarySuffix = "dylib"

    /// Where the executables of the package's targets lie.
    package static var products: URL {
        Bundle(for: ChildProcess.self).bundleURL.deletingLastPathComponent()
    }
}
#endif
