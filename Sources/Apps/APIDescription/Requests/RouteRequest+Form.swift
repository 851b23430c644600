internal import CommandModel
package import HTTPAPI

// The form and the credentials of a request.
extension RouteRequest {
    /// Returns the JSON of the body as a form; an empty body is an empty object.
    ///
    /// - Throws: ``RouteFailure`` that names the field.
    package func form<Form: Decodable>(_ type: Form.Type = Form.self) throws -> Form {
        try Self.form(type, of: body.isEmpty ? Array("{}".utf8) : body)
    }

    /// Returns the query as a form: numbers are written as they are, yes is `1` or `true`, and no is `0` or `false`.
    ///
    /// - Throws: ``RouteFailure`` that names the field.
    package func queryForm<Form: Decodable>(_ type: Form.Type = Form.self) throws -> Form {
        var members: [String: JSONDocument] = [:]
        for field in try SchemaReader.object(of: type).fields {
            guard let text = text(field.name) else { continue }
            members[field.name] = try Self.value(text, of: field)
        }
        return try Self.form(type, of: JSONText.bytes(JSONDocument.object(members)))
    }

    /// A parameter of the query, nil if it is empty.
    private func text(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }

    private static func value(_ text: String, of field: ObjectSchema.Field) throws(RouteFailure) -> JSONDocument {
        switch field.schema {
        case .boolean:
            switch text {
            case "1", "true": return true
            case "0", "false": return false
            default: throw badField(field.name, "must be true or false")
            }
        case .integer(let minimum, let maximum):
            guard let number = Int64(text), number >= minimum ?? .min, number <= maximum ?? .max else {
                throw badField(field.name, "must be a whole number" + (minimum == 0 ? ", not below 0" : ""))
            }
            return .integer(number)
        case .choice(let texts):
            guard texts.contains(text) else {
                throw badField(field.name, "must be one of \(texts.joined(separator: ", "))")
            }
            return .string(text)
        case .any, .string, .pattern, .number, .numberChoice, .constant, .array, .map, .object, .null, .anyOf:
            return .string(text)
        }
    }

    private static func form<Form: Decodable>(_ type: Form.Type, of json: [UInt8]) throws -> Form {
        do {
            return try JSONText.decode(type, from: json)
        } catch let error as DecodingError {
            throw failure(error, in: type)
        }
    }

    private static func failure(_ error: DecodingError, in form: any Decodable.Type) -> RouteFailure {
        switch error {
        case .keyNotFound(let key, _): badField(key.stringValue, "is missing")
        case .typeMismatch(_, let context) where !context.codingPath.isEmpty,
            .valueNotFound(_, let context) where !context.codingPath.isEmpty:
            badField(name(of: context), "does not have the type that /openapi.json describes")
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            badField(name(of: context), choices(of: name(of: context), in: form) ?? "has a value that is not allowed")
        default: RouteFailure(400, "bad-json", "the body is not a JSON object: send one as in /openapi.json")
        }
    }

    /// The texts that a member may be, if those are known.
    private static func choices(of name: String, in form: any Decodable.Type) -> String? {
        let object = try? SchemaReader.object(of: form)  // nil: a form without a schema
        guard let texts = object?.fields.first(where: { $0.name == name })?.schema.choices else { return nil }
        return "must be one of \(texts.joined(separator: ", "))"
    }

    private static func name(of context: DecodingError.Context) -> String {
        context.codingPath.map(\.stringValue).joined(separator: ".")
    }
}
