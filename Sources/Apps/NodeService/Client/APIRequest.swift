internal import APIDescription
package import Bytes
internal import CommandModel
internal import HTTPAPI
internal import NodeModel
internal import RunarNode

/// A request to the API of a node that is answered with an `Answer`; ``Operations`` make them.
package struct APIRequest<Answer: Decodable & Sendable>: Sendable {
    let method: Route.Method
    /// The path, with `{name}` for a parameter.
    let template: String
    let parameters: [String: String]
    let query: [String: String]
    /// JSON, or nil for none.
    let body: [UInt8]?
    /// The peers that must be connected before a node that was just started can answer.
    let requiredPeers: RequiredPeers

    init<Path, Form: Encodable>(_ operation: Operation<Path, Form, Answer>, _ path: Path, _ form: Form) {
        method = operation.endpoint.method
        template = operation.endpoint.template
        // A segment of a path is never empty; a name that is blank is refused by the node in its own words.
        parameters = path.parameters.mapValues { $0.isEmpty ? " " : $0 }
        requiredPeers = operation.requiredPeers(path, form)
        switch operation.endpoint.body {
        case .json: (query, body) = ([:], JSONText.bytes(form))
        case .none, .bytes, .file: (query, body) = (Self.query(of: form), nil)
        }
    }

    private init<Whole>(_ request: APIRequest<Whole>, body: [UInt8]?) {
        method = request.method
        template = request.template
        parameters = request.parameters
        query = request.query
        self.body = body
        requiredPeers = request.requiredPeers
    }

    /// The request of which only a part of the answer is read.
    package func reading<Part>(_ part: Part.Type) -> APIRequest<Part> { APIRequest<Part>(self, body: body) }

    /// The request with the passphrase of the vault, for an operation that requires it.
    ///
    /// - Throws: `DecodingError` never, since the body is a JSON object of this process.
    package func confirmed(with passphrase: SecretBytes) throws -> Self {
        var fields = try JSONText.decode([String: RunarValue].self, from: body ?? Array("{}".utf8))
        fields["confirmation"] = .string(passphrase.withBytes { String(decoding: $0, as: UTF8.self) })
        return Self(self, body: JSONText.bytes(fields))
    }

    /// The path and the query of the request line.
    var target: String {
        let path = template.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            guard segment.first == "{" else { return String(segment) }
            return PercentText.encode(parameters[String(segment.dropFirst().dropLast())] ?? "")
        }.joined(separator: "/")
        let pairs = query.sorted { $0.key < $1.key }.map { "\($0)=\(PercentText.encode($1))" }
        return path + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }

    /// The members of a form in the texts of a query.
    private static func query(of form: some Encodable) -> [String: String] {
        let value = try? JSONText.decode(RunarValue.self, from: JSONText.bytes(form))  // it was just encoded
        return (value?.objectValue ?? [:]).compactMapValues { value in
            switch value {
            case .null: nil
            case .string(let text): text
            case .bool, .int, .double, .data, .array, .object: JSONText.encode(value)
            }
        }
    }
}
