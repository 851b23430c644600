internal import Foundation

/// JSON forms of values, with members changed.
enum JSONForms {
    static func object(_ value: some Encodable) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any] ?? [:]
    }

    static func decoded<Value: Decodable>(_ object: [String: Any], as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: JSONSerialization.data(withJSONObject: object))
    }

    static func changed<Value: Codable>(_ value: Value, _ change: (inout [String: Any]) -> Void) throws -> Value {
        var object = try object(value)
        change(&object)
        return try decoded(object)
    }

    /// Changes members of the inner object `response`.
    static func changedResponse<Value: Codable>(
        _ value: Value,
        _ change: (inout [String: Any]) -> Void
    ) throws -> Value {
        try changed(value) { object in
            var response = object["response"] as? [String: Any] ?? [:]
            change(&response)
            object["response"] = response
        }
    }
}
