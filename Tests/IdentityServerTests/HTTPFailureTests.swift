internal import APIDescription
internal import Bytes
internal import CommandModel
internal import HTTPAPI
internal import IdentityStore
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import IdentityServer

/// Requests that no client of ours sends, to every endpoint.
@Suite("Failures of the identity server's API") struct HTTPFailureTests {
    /// Bodies that are no form of any endpoint.
    static let bodies: [(name: String, bytes: [UInt8])] = [
        ("empty", []),
        ("not JSON", Array("handle=alice".utf8)),
        ("an array", Array("[]".utf8)),
        ("a text", Array("\"a\"".utf8)),
        ("null", Array("null".utf8)),
        ("not UTF-8", [0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x3A, 0x31, 0x7D]),
        ("half", Array("{\"handle\":".utf8)),
        ("wrong types", Array(#"{"handle":1,"did":[],"id":{},"purpose":true,"assertion":"a","everywhere":"x"}"#.utf8)),
        ("nulls", Array(#"{"handle":null,"id":null,"response":null,"assertion":null,"purpose":null}"#.utf8)),
        ("deep arrays", Array((String(repeating: "[", count: 60_000) + String(repeating: "]", count: 60_000)).utf8)),
        ("deep objects", Array((String(repeating: #"{"response":"#, count: 10_000) + "1").utf8)),
        ("deep member", Array((#"{"assertion":"# + String(repeating: "[", count: 400)).utf8)),
        ("two megabytes", Array((#"{"id":""# + String(repeating: "A", count: 2 << 20) + #""}"#).utf8)),
        ("duplicates", Array(#"{"id":"AA","id":"AB","purpose":"register","purpose":"authenticate"}"#.utf8)),
        ("NUL", Array(#"{"id":"\u0000","handle":"a\u0000b","purpose":"register"}"#.utf8)),
        ("huge numbers", Array(#"{"id":1e999999,"handle":123456789012345678901234567890,"everywhere":1e400}"#.utf8)),
        ("lone surrogate", Array(#"{"id":"\ud800","handle":"\udfff"}"#.utf8)),
        (
            "no base64url",
            Array(
                #"{"id":"+/==","rawId":"+/==","type":"public-key","response":{"clientDataJSON":"=","attestationObject":"*"}}"#
                    .utf8
            )
        ),
        (
            "client data of no form",
            Array(
                (#"{"id":"AQ","rawId":"AQ","type":"public-key","response":{"clientDataJSON":"e30","#
                    + #""attestationObject":"oA","authenticatorData":"AA","signature":"AA"}}"#)
                    .utf8
            )
        ),
    ]

    @Test func `each endpoint with a body answers hostile ones with a failure of the client in JSON`() async throws {
        let caller = try HTTPCaller(Scene([.requestLimits: ["off"]]))
        let token = try #require(await caller.register("alice").person.signedIn?.token)
        for endpoint in caller.api.endpoints where endpoint.route.method == .post {
            let target = endpoint.route.template.replacing("{ceremony}", with: "none")
            let takesForm = !["/token/refresh", "/token/revoke"].contains(target)
            for (name, bytes) in Self.bodies {
                let answer = try await caller.call(.post, target, bytes, token: token)
                #expect(answer.isSound, "\(target), \(name): \(answer.status) \(answer.text.prefix(300))")
                if takesForm { #expect(answer.status >= 400, "\(target), \(name)") }
                // A revocation by an empty form ends the session: the others still need their token checked.
                if target == "/token/revoke", answer.status == 200 { break }
            }
        }
        #expect(try await caller.scene.store.totals().accounts == 1)
    }

    @Test func `random damage of a registration is refused without a fault`() async throws {
        let caller = try HTTPCaller(Scene([.requestLimits: ["off"]]))
        var person = try Person("alice")
        let options = try await caller.call(.get, HTTPCaller.path(toRegister: person))
        let form = JSONText.bytes(try person.answer(options.decode(CreationOptionsReport.self).publicKey))
        let seed = UInt64.random(in: .min ... .max)
        print("damaged registrations: SEED=\(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<400 {
            var damaged = form
            for _ in 0..<(1 + random.next() % 3) {
                damaged[Int(random.next() % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            if random.next() % 4 == 0 { damaged.removeLast(Int(random.next() % UInt64(damaged.count))) }
            let answer = try await caller.call(.post, "/register", damaged)
            #expect(answer.isSound, "\(answer.status) \(answer.text)")
            // A change of a member that is not read leaves the form good.
            if answer.status == 200 { break }
        }
    }

    private static let texts = [
        "%00", "%FF%FE", "..", "%2e%2e%2f", "%F0%9F%92%A9", "alice%0d%0aX:%20y", "%ED%A0%80", "-", "admin",
        String(repeating: "a", count: 4_000), "123456789012345678901234567890", "-1", "1e9", "%22", "%3Cscript%3E",
        "alice.example.social", "ALICE", "a..b", "xn--a", "did:key:zzz", "null",
    ]

    @Test func `each endpoint without a body answers hostile paths and queries with a failure in JSON`() async throws {
        let caller = try HTTPCaller(Scene([.requestLimits: ["off"]]))
        let token = try #require(await caller.register("alice").person.signedIn?.token)
        let names = ["handle", "did", "shape", "after", "x"]
        for endpoint in caller.api.endpoints where endpoint.route.method != .post {
            let template = endpoint.route.template
            for text in Self.texts {
                let path = template.replacing(/\{[a-z]+\}/, with: text)
                let query = names.map { "\($0)=\(text)" }.joined(separator: "&")
                for target in [path, "\(path)?\(query)", "\(path)?\(names.joined(separator: "&"))"] {
                    // A path that is malformed has no route.
                    let answer = try await caller.ask(
                        endpoint.route.method,
                        target,
                        token: template == "/metrics" ? nil : token,
                        fields: [("x-ceremony-secret", "none")]
                    )
                    guard let answer else { continue }
                    if template.hasPrefix("/xrpc/") {
                        #expect([200, 400, 404].contains(answer.status), "\(target)")
                        #expect(answer.status == 200 || answer.error?.text != nil, "\(target): \(answer.text)")
                    } else {
                        #expect(answer.isSound, "\(target): \(answer.status) \(answer.text)")
                    }
                }
            }
        }
    }

    @Test func `a request without a good token gets 401 with a challenge at each endpoint that needs one`()
        async throws
    {
        let caller = try HTTPCaller(Scene())
        let signedIn = try caller.api.endpoints.filter { try $0.shape().credentials == .signedIn }
        #expect(signedIn.count == 9)
        let good = try #require(await caller.register("alice").person.signedIn?.token)
        let tokens: [[(name: String, value: String)]] = [
            [], [("Authorization", "Basic YTpi")], [("Authorization", "Bearer")], [("Authorization", "Bearer a b")],
            [("Authorization", "Bearer AAAA")], [("x-auth-token", "AAAA")],
            [("x-auth-token", String(good.dropLast(2)))],
            [("Authorization", "Bearer \(good.dropFirst())")],
            [("Authorization", "Bearer \(good)"), ("Authorization", "Bearer \(good)")],
            [("Authorization", "Bearer \(String(repeating: "A", count: 8_000))")],
        ]
        // Each form is whole, so that the token alone is wrong.
        let response = #"{"clientDataJSON":"e30","attestationObject":"oA","authenticatorData":"AA","signature":"AA"}"#
        let credential = #""id":"AQ","rawId":"AQ","type":"public-key","response":\#(response)"#
        let body = Array(#"{\#(credential),"assertion":{\#(credential)},"label":"a"}"#.utf8)
        for endpoint in signedIn {
            let target = endpoint.route.template.replacing("{action}", with: "add")
            for fields in tokens {
                let answer = try await caller.call(endpoint.route.method, target, body, fields: fields)
                #expect(answer.status == 401 && answer.isSound, "\(target): \(answer.status) \(answer.text)")
                #expect(answer.fields["WWW-Authenticate"] == "Bearer", "\(target)")
            }
        }
    }
}
