internal import Bytes
internal import CommandModel
internal import Foundation
internal import HTTPAPI
internal import Identity
internal import NodeModel

// The parameters and the body of a request, checked against their bounds.
extension RouteRequest {
    /// The JSON of the body as a form.
    ///
    /// - Throws: ``RouteFailure`` that names the field.
    func form<Form: Decodable>(_ type: Form.Type = Form.self) throws -> Form {
        try Self.form(type, of: body.isEmpty ? Array("{}".utf8) : body)
    }

    static func form<Form: Decodable>(_ type: Form.Type, of json: [UInt8]) throws -> Form {
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

    /// Returns the failure for a field that is refused.
    static func badField(_ name: String, _ why: String) -> RouteFailure {
        RouteFailure(
            400,
            "bad-field",
            "\"\(name)\" \(why)",
            context: ["field": name],
            exitCode: ExitStatus.usage.rawValue
        )
    }

    /// A whole number of a form, within bounds.
    static func number(_ number: Int?, _ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let number else { return nil }
        guard range.contains(number) else {
            throw badField(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A parameter of the query, nil if it is empty.
    func text(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The network in the path, nil for the only one.
    var network: NetworkName? { parameters[NetworkName?.parameter].flatMap { NetworkName?(segment: $0) } }
}

extension RouteFailure {
    /// Creates the failure that a command would report, with the matching HTTP status.
    init(_ error: any Error) {
        if let failure = error as? RouteFailure {
            self = failure
            return
        }
        let failure = CommandFailure(error)
        let status = failure.failureCode.httpStatus
        self.init(status, failure.code, failure.message, exitCode: failure.status.rawValue)
    }
}

extension ContentForm {
    /// The bytes.
    ///
    /// - Throws: ``RouteFailure`` when it is neither, or both.
    func bytes() throws -> Data {
        switch (text, base64) {
        case (let text?, nil): return Data(text.utf8)
        case (nil, let base64?): return try Self.decode(base64, "base64")
        default: throw RouteRequest.badField("text", "or \"base64\" must give the content, but not both")
        }
    }

    /// - Throws: ``RouteFailure``.
    static func decode(_ text: String, _ field: String) throws -> Data {
        guard let bytes = try? Base64.decode(text) else {  // invalid text fails below
            throw RouteRequest.badField(field, "is not base64: send the bytes in base64, with padding (RFC 4648)")
        }
        return Data(bytes)
    }
}
