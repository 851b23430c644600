#if os(Linux)
internal import Glibc

extension NetworkSpaces {
    /// Runs `body` on a thread of its own in the namespace of a role.
    ///
    /// Sockets and devices that it opens belong to that namespace, and may be used by other threads.
    package func inside<Success: Sendable>(
        _ role: String,
        _ body: @escaping @Sendable () throws -> Success
    ) async throws -> Success {
        let name = space(role)
        return try await aside {
            try Self.enter(name)
            // The thread ends with the body, and its namespace with it.
            return try body()
        }
    }

    /// CLONE_NEWNET.
    private static let newNetwork: Int32 = 0x4000_0000

    /// Puts the calling thread into a namespace.
    private static func enter(_ name: String) throws {
        let descriptor = unsafe open("/run/netns/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: "no namespace \(name)") }
        defer { close(descriptor) }
        // The module of the C library lacks this GNU function.
        typealias Entering = @convention(c) (Int32, Int32) -> Int32
        guard let symbol = unsafe dlsym(nil, "setns") else { throw Failure(description: "no setns here") }
        let setns = unsafe unsafeBitCast(symbol, to: Entering.self)
        guard setns(descriptor, newNetwork) == 0 else { throw Failure(description: "\(name) was not entered") }
    }
}
#endif
