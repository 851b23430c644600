internal import CommandModel
internal import Foundation
internal import HTTPAPI
internal import NodeModel
internal import RunarNode

extension RouteRequest {
    /// The query as a form: numbers are written as they are, yes is `1` or `true`, and no is `0` or `false`.
    ///
    /// - Throws: ``RouteFailure`` that names the field.
    func queryForm<Form: Decodable>(_ type: Form.Type = Form.self) throws -> Form {
        var members: [String: RunarValue] = [:]
        for field in try SchemaReader.object(of: type).fields {
            guard let text = text(field.name) else { continue }
            members[field.name] = try Self.value(text, of: field)
        }
        return try Self.form(type, of: JSONText.bytes(RunarValue.object(members)))
    }

    private static func value(_ text: String, of field: ObjectSchema.Field) throws(RouteFailure) -> RunarValue {
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
            return .int(number)
        case .choice(let texts):
            guard texts.contains(text) else {
                throw badField(field.name, "must be one of \(texts.joined(separator: ", "))")
            }
            return .string(text)
        case .any, .string, .number, .numberChoice, .constant, .array, .map, .object, .null, .anyOf:
            return .string(text)
        }
    }
}
