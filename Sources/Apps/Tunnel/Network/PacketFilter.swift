internal import Concurrency
internal import Identity
internal import Libc
internal import Platform

/// The loading of rules by `nft`, in the network namespace of the process.
package enum PacketFilter {
    /// The places of the program.
    private static let places = ["/usr/sbin/nft", "/sbin/nft", "/usr/bin/nft"]
    /// The most bytes of an error text that are kept.
    private static let errorByteLimit = 2_048

    /// Replaces the table of a gateway in one transaction; the former one remains after an error.
    package static func load(_ rules: GatewayRules) async throws(TunnelError) { try await run(rules.ruleset) }

    /// Removes the table of a gateway.
    package static func remove() async throws(TunnelError) { try await run(GatewayRules.removal + "\n") }

    /// Runs a script of nft on a thread of its own, because it waits for a process.
    private static func run(_ script: String) async throws(TunnelError) {
        let promise = Promise<Result<Void, TunnelError>>()
        let status = SystemThread.start {
            promise.fulfil(Result { () throws(TunnelError) in try runAndWait(script) })
        }
        guard status == 0 else { throw .filterRefused(reason: SystemErrors.text(of: status)) }
        // The transaction ends soon, and a half-known state of the filter would be worse than the wait.
        try await promise.waitIgnoringCancellation().get()
    }

    /// Runs a script of nft in the namespace of the calling thread, which waits for its end.
    static func runAndWait(_ script: String) throws(TunnelError) {
        guard let path = places.first(where: { unsafe access($0, X_OK) == 0 }) else {
            throw .filterRefused(reason: "the program nft is missing; install nftables")
        }
        guard let input = Posix.makePipe() else { throw .filterRefused(reason: Posix.lastErrorText) }
        guard let output = Posix.makePipe() else {
            let reason = Posix.lastErrorText
            for end in [input.read, input.write] { Posix.close(end) }
            throw .filterRefused(reason: reason)
        }
        let process = Posix.spawn(
            path,
            ["-f", "-"],
            ["LC_ALL=C"],
            input: input.read,
            output: output.write,
            errors: output.write
        )
        for end in [input.read, output.write] { Posix.close(end) }
        defer { Posix.close(output.read) }
        guard let process else {
            Posix.close(input.write)
            throw .filterRefused(reason: Posix.lastErrorText)
        }
        _ = Posix.write(Array(script.utf8), to: input.write)
        Posix.close(input.write)
        var text: [UInt8] = []
        while true {
            let piece = Posix.read(output.read, atMost: errorByteLimit)
            if piece.isEmpty { break }
            if text.count < errorByteLimit { text += piece }
        }
        guard Posix.reap(process) == 0 else {
            let reason = String(decoding: text.prefix(errorByteLimit), as: UTF8.self)
            throw .filterRefused(reason: PlainText.trimmed(PlainText.line(of: reason)))
        }
    }
}
