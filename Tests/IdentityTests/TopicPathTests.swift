internal import TestSupport
internal import Testing

@testable internal import Identity

@Suite("Topic paths") struct TopicPathTests {
    struct Tables: Decodable {
        struct Path: Decodable {
            let text: String
            let network: String
            let segments: [String]
            let action: String
        }

        struct Match: Decodable {
            let pattern: String
            let path: String
            let matches: Bool
        }

        struct Start: Decodable {
            let path: String
            let start: String
            let starts: Bool
        }

        let paths: [Path]
        let refused: [String]
        let matches: [Match]
        let starts: [Start]
    }

    private let tables: Tables

    init() throws { tables = try vectors(named: "Identity/topics.json") }

    @Test func `a text is a network and segments`() throws {
        for row in tables.paths {
            let path = try TopicPath(row.text, network: "default")
            #expect(path.network == row.network, "\(row.text)")
            #expect(path.segments == row.segments, "\(row.text)")
            #expect(path.servicePath == row.segments[0], "\(row.text)")
            #expect(path.actionPath == row.action, "\(row.text)")
            #expect(path.description == "\(row.network):\(row.segments.joined(separator: "/"))")
            #expect(try TopicPath(path.description) == path)
        }
    }

    @Test func `what is no topic is refused`() {
        for text in tables.refused + [String(repeating: "é", count: 257), "a\u{0}b", "a/\u{0}"] {
            #expect(throws: TopicPathError.self, "\(text)") { try TopicPath(text) }
        }
    }

    @Test func `a mark beside a separator takes nothing from it`() throws {
        let path = try TopicPath("main:\u{301}auth/\u{301}users", network: "other")
        #expect(path.network == "main" && path.segments == ["\u{301}auth", "\u{301}users"])
        for segment in ["a/\u{301}b", "a:\u{301}b"] {
            #expect(throws: TopicPathError.self) { try path.child(segment) }
            #expect(throws: TopicPathError.self) { try TopicPath("users/{id}").filled(with: ["id": segment]) }
        }
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
        for row in tables.starts {
            #expect(try TopicPath(row.path).starts(with: TopicPath(row.start)) == row.starts, "\(row)")
        }
    }

    @Test func `patterns match whole paths of their network`() throws {
        for row in tables.matches {
            #expect(try TopicPath(row.pattern).matches(TopicPath(row.path)) == row.matches, "\(row)")
        }
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
