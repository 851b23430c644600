internal import Libc
internal import Platform

/// The listening socket of an interface, which outlives the engine that inherits it.
package enum UAPISocket {
    /// The connections that wait for ``UAPIServer``.
    private static let backlog: Int32 = 16

    /// The path of the socket by which `wg` and ``UAPIClient`` find an interface.
    package static func path(interface: String) -> String { "\(UAPIClient.folder)/\(interface).sock" }

    /// Listens at `path`, to which only this process's user can connect, and returns the descriptor.
    ///
    /// A socket that an earlier process left at the path is replaced. The folder must exist.
    ///
    /// - Throws: ``UAPIError/unreachable(path:reason:)`` with the system's reason.
    package static func listen(at path: String) throws(UAPIError) -> Int32 {
        let descriptor = UnixSocket.make()
        guard descriptor >= 0 else { throw .unreachable(path: path, reason: Posix.lastErrorText) }
        Posix.unlink(path)
        // The mode of the file limits who may connect; nothing listens before it is set.
        guard bind(descriptor, to: path), Posix.setMode(0o600, of: path), Libc.listen(descriptor, backlog) == 0 else {
            let reason = Posix.lastErrorText
            Posix.close(descriptor)
            throw .unreachable(path: path, reason: reason)
        }
        return descriptor
    }

    private static func bind(_ descriptor: Int32, to path: String) -> Bool {
        var address = sockaddr_un()
        guard path.utf8.count <= UnixSocket.pathByteLimit else {
            errno = ENAMETOOLONG
            return false
        }
        address.setLength()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Libc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
