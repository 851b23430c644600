internal import Foundation
internal import TestSupport
internal import Testing

/// Homes that releases wrote, opened by this version.
@Suite("Golden homes", .aside, .timeLimit(.minutes(15))) struct GoldenHomeTests {
    private func check(_ fact: GoldenHome.Fact, in home: TemporaryDataDirectory) throws {
        let output = try home.answer(fact.command).output
        let found = try JSONDecoder().decode(JSONValue.self, from: Data(output.utf8))
        #expect(fact.answer.isContained(in: found), "\(fact.command): \(fact.answer)\nis now \(output)")
    }

    // Two homes that run concurrently find each other, and exchange cards.
    @Test(.serialized, arguments: try GoldenHome.all())
    func `a home of a release keeps its facts`(golden: GoldenHome) throws {
        let home = try TemporaryDataDirectory()
        try golden.unpack(to: home.path)
        for fact in golden.facts where fact.node != true { try check(fact, in: home) }
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        for fact in golden.facts where fact.node == true { try check(fact, in: home) }
        #expect(node.end(by: SIGTERM) == 0)
    }

    @Test func `a release has five homes, each with facts of its networks and its circle`() throws {
        let homes = try GoldenHome.all()
        #expect(homes.count >= 5)
        for home in homes {
            let commands = home.facts.map { $0.command.prefix(2).joined(separator: " ") }
            #expect(commands.contains("network list") && commands.contains("circle list"), "\(home.testDescription)")
        }
    }

    @Test func `a fact that no longer holds is noticed`() throws {
        let facts = try GoldenHome.all().flatMap(\.facts)
        for fact in facts {
            #expect(fact.answer.isContained(in: fact.answer))
            for changed in fact.answer.changes {
                #expect(!fact.answer.isContained(in: changed), "\(fact.command): \(changed)")
            }
        }
        #expect(facts.contains { $0.answer.changes.count > 20 })
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"b":2,"a":1}"#, true), (#"{"a":1}"#, #"{"a":2}"#, false), (#"{"a":1}"#, #"{}"#, false),
        (#"{"a":1}"#, #"{"a":true}"#, false), (#"[1,2]"#, #"[2,1]"#, true), (#"[1,2]"#, #"[1,2,3]"#, false),
        (#"[1,1]"#, #"[1,2]"#, false), (#"{"a":null}"#, #"{}"#, true), (#"{"a":"1"}"#, #"{"a":1}"#, false),
    ])
    func `an answer is compared by the fields of the fact`(fact: String, answer: String, holds: Bool) throws {
        let values = try [fact, answer].map { try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8)) }
        #expect(values[0].isContained(in: values[1]) == holds)
    }
}

extension JSONValue {
    /// Copies of this value, each with one change: another leaf, or a list with one element more or less.
    fileprivate var changes: [JSONValue] {
        switch self {
        case .null: [.text("planted")]
        case .truth(let value): [.truth(!value)]
        case .number(let value): [.number(value + 1)]
        case .text(let value): [.text(value + "planted")]
        case .list(let elements):
            [.list(elements + [.text("planted")])]
                + elements.indices.map { .list(Array(elements[..<$0] + elements[($0 + 1)...])) }
                + elements.indices.flatMap { index in elements[index].changes.map { elements.replacing(index, $0) } }
        case .object(let fields):
            fields.flatMap { name, value in
                value.changes.map { .object(fields.merging([name: $0]) { $1 }) }
            }
        }
    }
}

extension [JSONValue] {
    fileprivate func replacing(_ index: Int, _ value: JSONValue) -> JSONValue {
        var elements = self
        elements[index] = value
        return .list(elements)
    }
}
