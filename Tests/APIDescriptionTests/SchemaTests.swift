internal import CommandModel
internal import Foundation
internal import Identity
internal import Testing

@testable internal import APIDescription

@Suite("Schemas of types") struct SchemaTests {
    private enum Choice: String, Codable, CaseIterable { case one, two }

    private enum Level: Int, Codable, CaseIterable {
        case low = 1
        case high = 3
    }

    private struct Inner: Codable {
        let texts: [String]
        let next: [String: [Choice]]?
    }

    private struct Name: SampleProviding, Encodable {
        let text: String

        static let schema = JSONSchema.pattern("^[a-z]+$")
        static let sample = Name(text: "a")

        init(text: String) { self.text = text }

        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    private struct Numbers: Codable {
        let byte: UInt8
        let short: Int16
        let long: Int
        let unsigned: UInt64
        let ratio: Double?
    }

    private struct Unnamed: Codable {
        let text: String

        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    }

    private struct Holder<Value: Codable>: Codable {
        let value: Value
    }

    /// The schema of a member of this type, in JSON without references.
    private func json<Value: Codable>(_ type: Value.Type) throws -> String {
        let object = try SchemaReader.object(of: Holder<Value>.self)
        return JSONText.encode(try #require(object.fields.first).schema.json { _ in nil })
    }

    @Test func `integers have the bounds of their types, as far as JSON has them`() throws {
        let object = try SchemaReader.object(of: Numbers.self)
        #expect(
            object.fields.map(\.schema) == [
                .integer(minimum: 0, maximum: 255), .integer(minimum: -32768, maximum: 32767),
                .integer(minimum: nil, maximum: nil), .integer(minimum: 0, maximum: nil), .number,
            ]
        )
        #expect(object.fields.map(\.isRequired) == [true, true, true, true, false])
        #expect(object.name == "SchemaTests.Numbers")
    }

    @Test func `nested types, arrays, maps and optional members have the schema that they decode`() throws {
        #expect(
            try json(Inner.self) == """
                {"properties":{"next":{"additionalProperties":{"items":{"enum":["one","two"],"type":"string"},\
                "type":"array"},"type":"object"},"texts":{"items":{"type":"string"},"type":"array"}},\
                "required":["texts"],"type":"object"}
                """
        )
        #expect(
            try json([Level?].self)
                == #"{"items":{"anyOf":[{"type":"null"},{"enum":[1,3],"type":"integer"}]},"type":"array"}"#
        )
        #expect(try json([String: Bool].self) == #"{"additionalProperties":{"type":"boolean"},"type":"object"}"#)
        #expect(try json(Data.self) == #"{"type":"string"}"#)
    }

    @Test func `a type of a single value states its schema, or is refused`() throws {
        #expect(try json(Name.self) == #"{"pattern":"^[a-z]+$","type":"string"}"#)
        #expect(try json(PeerId.self) == #"{"type":"string"}"#)
        #expect(try json(DIDKey.self).contains("did:key:zDnae"))
        #expect(try SchemaReader.schema(of: Constant.self) == .constant("failure"))
        for type in [Holder<Unnamed>.self, Unnamed.self, Holder<NetworkId>.self] as [any Decodable.Type] {
            #expect(throws: SchemaReader.Failure.self) { try SchemaReader.object(of: type) }
        }
        #expect(throws: SchemaReader.Failure.self) { try SchemaReader.object(of: Choice.self) }
    }

    private struct Constant: SchemaProviding, Encodable {
        static let schema = JSONSchema.constant("failure")
    }

    @Test func `the schema of a joined form has the members of all its parts`() throws {
        let object = try SchemaReader.object(of: Joined<Numbers, Inner>.self)
        #expect(object.name == nil)
        #expect(object.fields.map(\.name) == ["byte", "short", "long", "unsigned", "ratio", "texts", "next"])
    }

    @Test func `an open object permits other members`() {
        let object = ObjectSchema(fields: [ObjectSchema.Field(name: "a", schema: .any)], isOpen: true)
        #expect(
            JSONText.encode(object.with("a", .constant("x"), name: "A").json { _ in nil })
                == #"{"additionalProperties":true,"properties":{"a":{"const":"x"}},"required":["a"],"type":"object"}"#
        )
    }
}
