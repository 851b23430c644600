internal import Foundation

/// Derives the JSON schema of a type: it decodes the type from nothing and notes the requested values.
///
/// A member that is read with `decodeIfPresent` is optional, every other one required. `CaseIterable` lists the texts or
/// numbers of an enumeration. Types that read single values in their own way are ``SampleProviding``.
package enum SchemaReader {
    /// A type whose schema cannot be found.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Returns the schema of an answer or of a member of one.
    ///
    /// - Throws: ``Failure`` for a type whose decoding reveals no schema.
    package static func schema(of type: any Encodable.Type) throws -> JSONSchema {
        if let provider = type as? any SchemaProviding.Type { return provider.schema }
        guard let decodable = type as? any Decodable.Type else {
            throw Failure(description: "\(type) is not Decodable")
        }
        return try read(decodable).schema
    }

    /// Returns the members of a form.
    ///
    /// - Throws: ``Failure``, also for a type that is no object.
    package static func object(of type: any Decodable.Type) throws -> ObjectSchema {
        guard case .object(let object) = try read(type).schema else {
            throw Failure(description: "\(type) is no object")
        }
        return object
    }

    /// Returns the schema of a type, and some value of it.
    static func read<Value: Decodable>(_ type: Value.Type) throws -> (schema: JSONSchema, value: Value) {
        let found: (schema: JSONSchema, value: any Decodable)
        switch type {
        case is String.Type: found = (.string, "")
        case is Bool.Type: found = (.boolean, false)
        case is Double.Type: found = (.number, 0.0)
        // Base64.
        case is Data.Type: found = (.string, Data())
        // Seconds since 2001.
        case is Date.Type: found = (.number, Date(timeIntervalSinceReferenceDate: 0))
        case let provider as any SampleProviding.Type: found = (provider.schema, try provider.sample)
        case let integer as any (FixedWidthInteger & Decodable).Type: found = read(integer: integer)
        case let container as any ElementSchema.Type: found = try container.readElement()
        case let choice as any (CaseIterable & RawRepresentable & Decodable).Type: found = try read(choice: choice)
        default: found = try read(object: type)
        }
        guard let value = found.value as? Value else { throw Failure(description: "no value of \(type)") }
        return (found.schema, value)
    }

    private static func read<Number: FixedWidthInteger & Decodable>(
        integer: Number.Type
    ) -> (schema: JSONSchema, value: any Decodable) {
        let isLong = Number.bitWidth >= 64
        let minimum = Number.isSigned ? (isLong ? nil : Int64(Number.min)) : 0
        return (.integer(minimum: minimum, maximum: isLong ? nil : Int64(Number.max)), Number.zero)
    }

    private static func read<Choice: CaseIterable & RawRepresentable & Decodable>(
        choice: Choice.Type
    ) throws -> (schema: JSONSchema, value: any Decodable) {
        guard let first = Choice.allCases.first else { throw Failure(description: "\(choice) has no cases") }
        let texts = Choice.allCases.compactMap { $0.rawValue as? String }
        if !texts.isEmpty { return (.choice(texts), first) }
        let numbers = Choice.allCases.compactMap { ($0.rawValue as? any BinaryInteger).map { Int64($0) } }
        return (.numberChoice(numbers), first)
    }

    private static func read<Object: Decodable>(
        object: Object.Type
    ) throws -> (schema: JSONSchema, value: any Decodable) {
        let recorder = FieldRecorder()
        let value: Object
        do {
            value = try Object(from: recorder)
        } catch {
            throw Failure(description: "\(object): \(error)")
        }
        return (.object(ObjectSchema(name: name(of: object), fields: recorder.fields)), value)
    }

    /// The name of a type without its module, nil for one with parameters.
    private static func name(of type: any Decodable.Type) -> String? {
        let name = String(reflecting: type)
        guard !name.contains("<") else { return nil }
        let parts = name.split(separator: ".").dropFirst()
        // The place of a private type is no part of its name.
        return parts.filter { !$0.hasPrefix("(unknown context") && !$0.hasPrefix("$") }.joined(separator: ".")
    }
}

/// A container, whose schema is derived from that of its elements.
private protocol ElementSchema {
    static func readElement() throws -> (schema: JSONSchema, value: any Decodable)
}

extension Array: ElementSchema where Element: Decodable {
    fileprivate static func readElement() throws -> (schema: JSONSchema, value: any Decodable) {
        (.array(try SchemaReader.read(Element.self).schema), [Element]())
    }
}

extension Dictionary: ElementSchema where Key == String, Value: Decodable {
    fileprivate static func readElement() throws -> (schema: JSONSchema, value: any Decodable) {
        (.map(try SchemaReader.read(Value.self).schema), [String: Value]())
    }
}

extension Optional: ElementSchema where Wrapped: Decodable {
    fileprivate static func readElement() throws -> (schema: JSONSchema, value: any Decodable) {
        (.null(or: try SchemaReader.read(Wrapped.self).schema), Wrapped?.none)
    }
}
