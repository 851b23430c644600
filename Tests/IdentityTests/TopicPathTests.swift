internal import TestSupport
internal import Testing

@testable internal import Identity

@Suite("Topic paths") struct TopicPathTests {
    @Test(arguments: [
        ("main:auth/login", "main", ["auth", "login"], "auth/login"),
        ("auth/login", "default", ["auth", "login"], "auth/login"),
        ("auth", "default", ["auth"], ""),
        ("main:auth/users/details", "main", ["auth", "users", "details"], "auth/users/details"),
        ("main:service/a/b/c/d/e/f", "main", ["service", "a", "b", "c", "d", "e", "f"], "service/a/b/c/d/e/f"),
        ("test-network_01:service", "test-network_01", ["service"], ""),
        ("main:my-service_01", "main", ["my-service_01"], ""),
        (
            "test_network:$registry/services/list", "test_network", ["$registry", "services", "list"],
            "$registry/services/list"
        ),
        ("/a//b/", "default", ["a", "b"], "a/b"),
    ])
    func `a text is a network and segments`(
        text: String,
        network: String,
        segments: [String],
        action: String
    ) throws {
        let path = try TopicPath(text, network: "default")
        #expect(path.network == network)
        #expect(path.segments == segments)
        #expect(path.servicePath == segments[0])
        #expect(path.actionPath == action)
        #expect(path.description == "\(network):\(segments.joined(separator: "/"))")
        #expect(try TopicPath(path.description) == path)
    }

    @Test(arguments: [
        "", "/", "main:", "main:auth:login", ":auth/login", "main:services/>/state", "a/{}", "a/{x}/{x}", "a/\u{7}",
        "a/\u{202E}b", String(repeating: "a/", count: 33), String(repeating: "é", count: 257),
    ])
    func `what is no topic is refused`(text: String) {
        #expect(throws: TopicPathError.self) { try TopicPath(text) }
    }

    @Test func `paths have children and parents`() throws {
        let path = try TopicPath("main:auth/users/details")
        #expect(try TopicPath("main:auth").child("login").description == "main:auth/login")
        #expect(throws: TopicPathError.self) { try path.child("invalid/segment") }
        #expect(throws: TopicPathError.self) { try path.child("bad:name") }
        #expect(path.parent?.description == "main:auth/users")
        #expect(path.parent?.parent?.description == "main:auth")
        #expect(path.parent?.parent?.parent == nil)
    }

    @Test func `a path starts with others of its network`() throws {
        let path = try TopicPath("main:auth/users/list")
        for (text, isStart) in [
            ("main:auth", true), ("main:auth/users", true), ("other:auth/users", false), ("main:payments", false),
            ("main:auth/user", false),
        ] {
            #expect(try path.starts(with: TopicPath(text)) == isStart, "\(text)")
        }
    }

    @Test(arguments: [
        ("a/b", "a/b", true), ("a/b", "a/c", false), ("a/*", "a/b", true), ("a/*", "a", false),
        ("a/*", "a/b/c", false), ("*/b", "a/b", true), ("a/>", "a/b", true), ("a/>", "a/b/c/d", true),
        ("a/>", "a", false), (">", "a", true), ("a/{x}/c", "a/b/c", true), ("a/{x}/c", "a/b/d", false),
        ("a/{x}/>", "a/b/c", true), ("n:a/>", "m:a/b", false), ("n:a", "a", false), ("a/b", "a/*", false),
        ("*", "{x}", false), ("a/*/c", "a/b/c", true), ("A", "a", false),
    ])
    func `patterns match whole paths of their network`(pattern: String, path: String, matches: Bool) throws {
        #expect(try TopicPath(pattern).matches(TopicPath(path)) == matches)
    }

    @Test func `parameters are found and filled in`() throws {
        let pattern = try TopicPath("home/{room}/lamps/{lamp}")
        let path = try TopicPath("home/kitchen/lamps/3")
        #expect(pattern.isPattern && !path.isPattern)
        #expect(pattern.parameters(of: path) == ["room": "kitchen", "lamp": "3"])
        #expect(pattern.parameters(of: try TopicPath("home/kitchen/lamps")) == nil)
        #expect(try pattern.filled(with: ["room": "kitchen", "lamp": "3"]) == path)
        #expect(throws: TopicPathError.missingParameter("lamp")) { try pattern.filled(with: ["room": "kitchen"]) }
        #expect(throws: TopicPathError.self) { try pattern.filled(with: ["room": "a/b", "lamp": "3"]) }
    }

    @Test func `no text makes it crash`() {
        neverCrash(onTexts: ["main:a/{b}/*/c/>"]) { text in
            let path = try TopicPath(text)
            _ = (path.matches(path), path.parent, path.parameters(of: path), path.description)
        }
    }
}
