internal import Testing

/// The private parts of the QUIC engine's C shim: types, versions, macros, callbacks.
@Suite("Shim") struct ShimTests {
    private static let folder = "Sources/Transport/CQUICShim/"
    private static let header = folder + "include/cquicshim.h"

    /// A C source without its comments.
    private func code(of path: String) throws -> String {
        try SourceTree.text(of: path).replacing(/\/\/[^\n]*/, with: "")
    }

    private var sources: [String] { SourceTree.paths(below: "Sources", suffixes: [".c", ".h"]) }

    @Test func `only the shims include the headers of ngtcp2 and GnuTLS`() throws {
        let engine = [Self.folder, "Sources/Transport/CNGTCP2/"]
        let tls = ["Sources/Apps/CTLSShim/", "Sources/Apps/CGnuTLS/"]
        for path in sources where !engine.contains(where: path.hasPrefix) {
            #expect(!(try code(of: path).contains(/#include *<ngtcp2\//)), "\(path)")
            guard !tls.contains(where: path.hasPrefix) else { continue }
            #expect(!(try code(of: path).contains(/#include *<gnutls\//)), "\(path)")
        }
    }

    @Test func `the shim's header exposes no engine or TLS types (9)`() throws {
        let code = try code(of: Self.header)
        #expect(!code.lowercased().contains("ngtcp2") && !code.lowercased().contains("gnutls"))
        let included = code.matches(of: /#include *[<"]([^>"]*)[>"]/).map { String($0.output.1) }
        #expect(included == ["stdbool.h", "stddef.h", "stdint.h", "cudpshim.h"])
        // Macros with arguments and functions with any number of them are not imported.
        #expect(!code.contains(/#define +\w+\(/) && !code.contains("..."))
    }

    @Test func `versions of the engine differ only in the shim (10)`() throws {
        let telling = try sources.filter { try code(of: $0).contains("NGTCP2_VERSION_NUM") }
        #expect(telling == [Self.folder + "internal.h"])
        #expect(!(try code(of: Self.header).contains("RQ_NGTCP2_1")))
    }

    @Test func `callbacks call only engine functions that are allowed there (14)`() throws {
        let callbacks = try code(of: Self.folder + "callbacks.c")
        let called = Set(callbacks.matches(of: /(ngtcp2_conn_\w+)\(/).map { String($0.output.1) })
        let allowed: Set = [
            "ngtcp2_conn_extend_max_offset", "ngtcp2_conn_extend_max_streams_bidi", "ngtcp2_conn_is_local_stream",
            "ngtcp2_conn_set_stream_user_data", "ngtcp2_conn_set_tls_alert",
        ]
        #expect(called.isSubset(of: allowed), "\(called.subtracting(allowed).sorted())")
        let hooks = try SourceTree.text(of: "Sources/Transport/QUIC/Loop/EngineHooks.swift")
        #expect(!hooks.contains(/\br[qu]_(conn|stream|udp)_\w+\(/))
        #expect(!hooks.contains(/\.(resume|push|set|yield|finish)\(/), "a waiter is resumed within a packet")
    }
}
