package import APIDescription
internal import Identity
package import RegistrationModel
package import WebAuthn

// The schemas of types that read single values, or nested objects, in their own way.

extension Handle: SampleProviding {
    package static var schema: JSONSchema { .pattern("^[a-z0-9][a-z0-9-]{1,16}[a-z0-9]$") }

    package static var sample: Handle { get throws { try Handle("alice") } }
}

extension QualifiedHandle: SampleProviding {
    package static var schema: JSONSchema { .string }

    package static var sample: QualifiedHandle { get throws { try QualifiedHandle("alice.example.org") } }
}

extension UserId: SampleProviding {
    package static var schema: JSONSchema { Wire.uuid }

    package static var sample: UserId { get throws { try UserId(text: Wire.sampleUUID) } }
}

extension UniqueId: SampleProviding {
    package static var schema: JSONSchema { Wire.uuid }

    package static var sample: UniqueId { get throws { try UniqueId(text: Wire.sampleUUID) } }
}

extension CredentialId: SampleProviding {
    package static var schema: JSONSchema { Wire.bytes }

    package static var sample: CredentialId { CredentialId([0]) }
}

extension DIDProof: SampleProviding {
    package static var schema: JSONSchema { .pattern("^[A-Za-z0-9_-]{86}$") }

    package static var sample: DIDProof { get throws { try DIDProof([UInt8](repeating: 0, count: 64)) } }
}

extension CredentialCreationOptions: SampleProviding {
    package static var schema: JSONSchema {
        let parameter = Wire.object(
            nil,
            ["type": .constant("public-key"), "alg": .integer(minimum: nil, maximum: nil)]
        )
        let selection = Wire.object(
            nil,
            ["residentKey": .string, "requireResidentKey": .boolean, "userVerification": Wire.verification]
        )
        return Wire.object(
            "CredentialCreationOptions",
            [
                "rp": Wire.object(nil, ["id": .string, "name": .string]),
                "user": Wire.object(nil, ["id": Wire.bytes, "name": .string, "displayName": .string]),
                "challenge": Wire.bytes,
                "pubKeyCredParams": .array(parameter),
                "timeout": .integer(minimum: 0, maximum: nil),
                "excludeCredentials": .array(Wire.descriptor),
                "authenticatorSelection": selection,
                "attestation": .choice(["none", "direct"]),
                "extensions": Wire.object(nil, ["credProps": .boolean]),
            ]
        )
    }

    package static var sample: CredentialCreationOptions {
        let user = UserEntity(id: [0], name: "", displayName: "")
        return Wire.party.creationOptions(for: user, challenge: Wire.challenge)
    }
}

extension CredentialRequestOptions: SampleProviding {
    package static var schema: JSONSchema {
        Wire.object(
            "CredentialRequestOptions",
            [
                "challenge": Wire.bytes,
                "timeout": .integer(minimum: 0, maximum: nil),
                "rpId": .string,
                "allowCredentials": .array(Wire.descriptor),
                "userVerification": Wire.verification,
            ]
        )
    }

    package static var sample: CredentialRequestOptions { Wire.party.requestOptions(challenge: Wire.challenge) }
}

extension RegistrationResponse: SampleProviding {
    package static var schema: JSONSchema { .object(Wire.registration(named: "RegistrationResponse", [:])) }

    package static var sample: RegistrationResponse {
        RegistrationResponse(
            rawId: [],
            clientDataJSON: [],
            attestationObject: [],
            transports: [],
            isDiscoverable: nil
        )
    }
}

extension AuthenticationResponse: SampleProviding {
    package static var schema: JSONSchema {
        let response = ObjectSchema(fields: [
            ObjectSchema.Field(name: "clientDataJSON", schema: Wire.bytes),
            ObjectSchema.Field(name: "authenticatorData", schema: Wire.bytes),
            ObjectSchema.Field(name: "signature", schema: Wire.bytes),
            ObjectSchema.Field(name: "userHandle", schema: .null(or: Wire.bytes), isRequired: false),
        ])
        return .object(
            ObjectSchema(name: "AuthenticationResponse", fields: Wire.credential(.object(response)), isOpen: true)
        )
    }

    package static var sample: AuthenticationResponse {
        AuthenticationResponse(rawId: [], clientDataJSON: [], authenticatorData: [], signature: [], userHandle: nil)
    }
}

/// Parts of the schemas.
enum Wire {
    static let bytes = JSONSchema.pattern("^[A-Za-z0-9_-]*$")
    static let uuid = JSONSchema.pattern("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
    static let verification = JSONSchema.choice(["required", "preferred", "discouraged"])
    static let descriptor = JSONSchema.object(
        ObjectSchema(
            name: "CredentialDescriptor",
            fields: [
                ObjectSchema.Field(name: "type", schema: .constant("public-key")),
                ObjectSchema.Field(name: "id", schema: bytes),
                ObjectSchema.Field(name: "transports", schema: .array(.string), isRequired: false),
            ]
        )
    )
    fileprivate static let sampleUUID = "00000000-0000-4000-8000-000000000000"
    fileprivate static let party = RelyingParty(id: "", name: "", origins: [])
    fileprivate static let challenge = [UInt8](repeating: 0, count: RelyingParty.challengeByteMinimum)

    static func object(_ name: String?, _ fields: KeyValuePairs<String, JSONSchema>) -> JSONSchema {
        .object(ObjectSchema(name: name, fields: fields.map { ObjectSchema.Field(name: $0.key, schema: $0.value) }))
    }

    /// The response to a registration, with further members in the same object.
    static func registration(named name: String, _ more: KeyValuePairs<String, (JSONSchema, Bool)>) -> ObjectSchema {
        let response = ObjectSchema(fields: [
            ObjectSchema.Field(name: "clientDataJSON", schema: bytes),
            ObjectSchema.Field(name: "attestationObject", schema: bytes),
            ObjectSchema.Field(name: "transports", schema: .array(.string), isRequired: false),
        ])
        let own = more.map { ObjectSchema.Field(name: $0.key, schema: $0.value.0, isRequired: $0.value.1) }
        return ObjectSchema(name: name, fields: credential(.object(response)) + own, isOpen: true)
    }

    /// The members of both responses.
    fileprivate static func credential(_ response: JSONSchema) -> [ObjectSchema.Field] {
        [
            ObjectSchema.Field(name: "id", schema: bytes),
            ObjectSchema.Field(name: "rawId", schema: bytes),
            ObjectSchema.Field(name: "type", schema: .constant("public-key")),
            ObjectSchema.Field(name: "response", schema: response),
        ]
    }
}
