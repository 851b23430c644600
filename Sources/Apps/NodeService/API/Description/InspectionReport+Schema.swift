internal import APIDescription
internal import NodeModel

extension InspectionReport: SchemaProviding {
    /// The parts of a text are further members, which differ for each kind.
    static var schema: JSONSchema {
        func field(_ name: String, _ schema: JSONSchema, isRequired: Bool = true) -> ObjectSchema.Field {
            ObjectSchema.Field(name: name, schema: schema, isRequired: isRequired)
        }
        let failure = ObjectSchema(fields: [field("code", .string), field("message", .string)], isOpen: true)
        let fields = [
            field("kind", .string), field("valid", .boolean), field("problem", .null(or: .string)),
            field("error", .object(failure), isRequired: false),
        ]
        return .object(ObjectSchema(name: "InspectionReport", fields: fields, isOpen: true))
    }
}
