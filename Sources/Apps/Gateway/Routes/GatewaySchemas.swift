package import APIDescription
package import ExitModel

// The schemas of types that read their members in their own way.

extension RedemptionReport: SchemaProviding {
    package static var schema: JSONSchema {
        GatewaySchemas.object(
            "RedemptionReport",
            [
                "endpoints": .array(.string),
                "peerPublicKey": GatewaySchemas.bytes32,
                "addresses": .array(.string),
                "resolvers": .array(.string),
                "encapsulatedKey": .pattern("^[A-Za-z0-9_-]{1494}$"),
                "leaseEnds": .integer(minimum: 0, maximum: nil),
                "keepaliveSeconds": .integer(minimum: 0, maximum: 65_535),
                "mtu": .integer(minimum: 1_280, maximum: 9_000),
            ]
        )
    }
}

extension SignedDocument: SchemaProviding {
    package static var schema: JSONSchema {
        GatewaySchemas.object(
            "SignedDocument",
            ["payload": .pattern("^[A-Za-z0-9_-]+$"), "signature": .pattern("^[A-Za-z0-9_-]{86}$")]
        )
    }
}

extension ExitDirectory: SchemaProviding {
    package static var schema: JSONSchema {
        let roster = SignedDocument<ExitRoster>.schema
        let fields = [
            ObjectSchema.Field(name: "roster", schema: roster),
            ObjectSchema.Field(name: "gateways", schema: .array(roster)),
            ObjectSchema.Field(name: "issuerDirectory", schema: .pattern("^[A-Za-z0-9_-]*$"), isRequired: false),
        ]
        return .object(ObjectSchema(name: "ExitDirectory", fields: fields))
    }
}

/// Schemas of forms and members.
enum GatewaySchemas {
    static let bytes32 = JSONSchema.pattern("^[A-Za-z0-9_-]{43}$")
    static let redemptionForm = ObjectSchema(
        name: "RedemptionForm",
        fields: [
            ObjectSchema.Field(name: "clientPublicKey", schema: bytes32),
            ObjectSchema.Field(name: "encapsulationKey", schema: .pattern("^[A-Za-z0-9_-]{1622}$")),
        ]
    )

    static func object(_ name: String, _ fields: KeyValuePairs<String, JSONSchema>) -> JSONSchema {
        .object(ObjectSchema(name: name, fields: fields.map { ObjectSchema.Field(name: $0.key, schema: $0.value) }))
    }
}
