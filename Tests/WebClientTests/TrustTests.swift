internal import Bytes
internal import TLSChannel
internal import TestSupport
internal import Testing
internal import WebClient

/// The certificates of Python's and OpenSSL's servers, as the client judges them.
@Suite(
    "Trust of a web client",
    .timeLimit(.minutes(15)),
    .enabled(if: WebPeer.missing.isEmpty, Comment(rawValue: WebPeer.missing))
)
struct TrustTests {
    /// Returns the failure of a request, and checks that the server received no byte of it.
    private func refusal(
        of chain: String,
        host: String = "localhost",
        _ change: (inout WebClient.Configuration) throws -> Void = { _ in }
    ) async throws -> TLSError? {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve(tls: chain)
        let client = try peer.client(change)
        let url = try server.url("/secret", host: host)
        let error = await #expect(throws: WebClientError.self) { try await client.send(WebRequest(url)) }
        #expect(try await server.events().allSatisfy { !$0.contains("/secret") })
        guard case .tls(let error)? = error else {
            Issue.record("\(String(describing: error))")
            return nil
        }
        return error
    }

    @Test(arguments: ["good", "rsa", "p384"])
    func `a chain to a trusted root with the right name is accepted`(_ chain: String) async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve(tls: chain)
        let client = try peer.client()
        let response = try await client.send(WebRequest(server.url("/nothing")))
        #expect(response.status == 204)
        let byAddress = try await client.send(WebRequest(server.url("/nothing", host: "127.0.0.1")))
        #expect(byAddress.status == 204)
    }

    @Test func `an IPv6 address in a certificate is accepted`() async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve(tls: "good", host: "::1")
        let response = try await peer.client().send(WebRequest(server.url("/nothing", host: "[::1]")))
        #expect(response.status == 204)
        await #expect(throws: WebClientError.tls(.wrongName)) {
            let other = try await peer.serve(tls: "elsewhere", host: "::1")
            _ = try await peer.client().send(WebRequest(other.url("/nothing", host: "[::1]")))
        }
    }

    @Test func `TLS 1.2 is used with forward secrecy alone`() async throws {
        let peer = try await WebPeer.shared()
        let client = try peer.client()
        let old = try await peer.serve(tls: "rsa", version: "1.2")
        #expect(try await client.send(WebRequest(old.url("/nothing"))).status == 204)
        for ciphers in ["AES128-GCM-SHA256:@SECLEVEL=0", "ECDHE-RSA-AES128-SHA:@SECLEVEL=0"] {
            let weak = try await peer.serve(tls: "rsa", version: "1.2", ciphers: ciphers)
            let error = await #expect(throws: WebClientError.self) {
                try await client.send(WebRequest(weak.url("/nothing")))
            }
            guard case .tls(.refused)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test(arguments: ["1.2", "1.3"]) func `a server of OpenSSL is read`(_ version: String) async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.openssl(version: version)
        let response = try await peer.client().send(WebRequest(server.url("/")))
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self).contains("TLSv\(version)"))
    }

    @Test func `a chain of another root, without its intermediate, or self-signed is refused`() async throws {
        let peer = try await WebPeer.shared()
        let other = try peer.text("other-root")
        #expect(try await refusal(of: "good") { $0.trust = .roots(pem: other) } == .unknownAuthority)
        #expect(try await refusal(of: "good") { $0.trust = .system } == .unknownAuthority)
        #expect(try await refusal(of: "alone") == .unknownAuthority)
        #expect(try await refusal(of: "self") == .unknownAuthority)
    }

    @Test func `an expired certificate and one that is not valid yet are refused with their times`() async throws {
        let facts = try await WebPeer.shared().facts
        #expect(try await refusal(of: "expired") == .expired(endSeconds: facts.ends["expired"]))
        #expect(try await refusal(of: "future") == .notYetValid(startSeconds: facts.starts["future"]))
    }

    @Test func `a certificate for another name, address or purpose is refused`() async throws {
        #expect(try await refusal(of: "elsewhere") == .wrongName)
        #expect(try await refusal(of: "elsewhere", host: "127.0.0.1") == .wrongName)
        // The common name is no name of a host.
        #expect(try await refusal(of: "common") == .wrongName)
        #expect(try await refusal(of: "mail") == .unfitCertificate)
    }

    @Test func `an RSA key of 1024 bits is refused`() async throws {
        #expect(try await refusal(of: "weak") == .weakCertificate)
    }

    @Test(arguments: ["good", "middle", "root"])
    func `a pinned key anywhere in the chain is accepted`(_ name: String) async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve(tls: "good")
        let pin = try KeyPin(try #require(peer.facts.pins[name]))
        let client = try peer.client { $0.pins = [try #require(KeyPin(digest: Array(repeating: 1, count: 32))), pin] }
        #expect(try await client.send(WebRequest(server.url("/nothing"))).status == 204)
    }

    @Test func `a chain without a pinned key is refused`() async throws {
        let pins = try await WebPeer.shared().facts.pins
        let others = try [KeyPin(try #require(pins["other"])), KeyPin(try #require(pins["rsa"]))]
        #expect(try await refusal(of: "good") { $0.pins = others } == .pinMismatch)
        // The pinned certificate is sent, but is no part of the chain.
        #expect(try await refusal(of: "stuffed") { $0.pins = others } == .pinMismatch)
    }

    @Test func `a pin does not replace the check of the chain and the name`() async throws {
        let peer = try await WebPeer.shared()
        let pin = try KeyPin(try #require(peer.facts.pins["elsewhere"]))
        #expect(try await refusal(of: "elsewhere") { $0.pins = [pin] } == .wrongName)
        let (other, leaf) = (try peer.text("other-root"), try KeyPin(try #require(peer.facts.pins["good"])))
        let error = try await refusal(of: "good") { ($0.trust, $0.pins) = (.roots(pem: other), [leaf]) }
        #expect(error == .unknownAuthority)
    }

    @Test func `a server without TLS is recognised`() async throws {
        let peer = try await WebPeer.shared()
        let client = try peer.client()
        // A server that answers first, and one that answers the first bytes of TLS.
        for steps: [WebPeer.Step] in [[.text("220 hello\r\n"), .hold], [.text("HTTP/1.1 400 Bad\r\n\r\n"), .hold]] {
            let server = try await peer.raw(steps)
            await #expect(throws: WebClientError.tls(.notTLS)) { try await client.send(WebRequest(server.url("/"))) }
            try await server.wait(for: "closed")
        }
    }

    @Test func `a server that ends or delays the handshake is reported`() async throws {
        let peer = try await WebPeer.shared()
        let ending = try await peer.raw([.close])
        let error = await #expect(throws: WebClientError.self) {
            try await peer.client().send(WebRequest(ending.url("/")))
        }
        #expect(error == .tls(.disconnected) || error == .closed)
        let silent = try await peer.raw([.hold])
        let client = try peer.client { $0.connectionLimit = .milliseconds(50) }
        // By its number: a name may not be found in time.
        let address = try silent.url("/", host: "127.0.0.1")
        let late = await #expect(throws: WebClientError.self) { try await client.send(WebRequest(address)) }
        // A busy machine may need the whole time for the connection.
        #expect(late == .timedOut(.handshake) || late == .timedOut(.connecting))
        try await silent.wait(for: "closed")
    }

    @Test func `an endless handshake is refused`() async throws {
        let peer = try await WebPeer.shared()
        // Records of a handshake message that never ends: a ServerHello of 16 MiB.
        let first = "\u{16}\u{03}\u{03}\u{40}\u{00}\u{02}\u{FF}\u{FF}\u{FF}" + String(repeating: "\0", count: 16_380)
        let server = try await peer.raw([.text(first, times: 64), .hold])
        let error = await #expect(throws: WebClientError.self) {
            try await peer.client().send(WebRequest(server.url("/")))
        }
        guard case .tls? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try await server.wait(for: "closed")
    }

    @Test func `roots that cannot be read are refused`() async throws {
        for text in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            var configuration = WebClient.Configuration()
            configuration.trust = .roots(pem: text)
            let error = #expect(throws: WebClientError.self) { try WebClient(configuration) }
            guard case .tls(.badRoots)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }
}
