/// An object with fixed names.
package struct ObjectSchema: Hashable, Sendable {
    /// A member.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let schema: JSONSchema
        package let isRequired: Bool

        package init(name: String, schema: JSONSchema, isRequired: Bool = true) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
        }
    }

    /// The name of its type, nil for an inline schema.
    package var name: String?
    package var fields: [Field]
    /// Whether other members are permitted, too.
    package var isOpen: Bool

    package init(name: String? = nil, fields: [Field], isOpen: Bool = false) {
        self.name = name
        self.fields = fields
        self.isOpen = isOpen
    }

    /// With one member more, or another meaning of a member, under another name or none.
    package func with(_ member: String, _ schema: JSONSchema, name: String? = nil) -> ObjectSchema {
        var object = self
        object.name = name
        let field = Field(name: member, schema: schema)
        if let index = fields.firstIndex(where: { $0.name == member }) {
            object.fields[index] = field
        } else {
            object.fields.append(field)
        }
        return object
    }

    /// As a JSON value; `refer` returns the place of an object that has a name.
    package func json(_ refer: (ObjectSchema) -> JSONDocument?) -> JSONDocument {
        var members: [String: JSONDocument] = ["type": "object"]
        if !fields.isEmpty {
            let pairs = fields.map { ($0.name, $0.schema.json(refer)) }
            members["properties"] = .object(Dictionary(uniqueKeysWithValues: pairs))
        }
        let required = fields.filter(\.isRequired).map(\.name)
        if !required.isEmpty { members["required"] = .array(required.map { .string($0) }) }
        if isOpen { members["additionalProperties"] = true }
        return .object(members)
    }
}
