package import Bytes
internal import Console
internal import RunarNode

/// A request to the API of a node that is answered with an `Answer`.
///
/// The static functions make the requests of the commands. A network that is nil is written `-`: the only one, or all.
package struct APIRequest<Answer: Decodable & Sendable>: Sendable {
    let method: Route.Method
    /// The path below ``NodeAPI/prefix``, with `{name}` for a parameter.
    let template: String
    let parameters: [String: String]
    let query: [String: String]
    /// JSON, or nil for none.
    let body: [UInt8]?
    /// The peers that must be connected before a node that was just started can answer.
    let requiredPeers: RequiredPeers

    init(
        _ method: Route.Method,
        _ template: String,
        _ parameters: [String: String] = [:],
        query: [String: String?] = [:],
        body: (any Encodable)? = nil,
        requiredPeers: RequiredPeers = .nobody
    ) {
        self.method = method
        self.template = template
        // A segment of a path is never empty; a name that is blank is refused by the node in its own words.
        self.parameters = parameters.mapValues { $0.isEmpty ? " " : $0 }
        self.query = query.compactMapValues(\.self)
        self.body = body.map { JSONText.bytes($0) } ?? (method == .get || method == .delete ? nil : Array("{}".utf8))
        self.requiredPeers = requiredPeers
    }

    /// The request with the passphrase of the vault, for an operation that requires it.
    ///
    /// - Throws: `DecodingError` never, since the body is a JSON object of this process.
    package func confirmed(with passphrase: SecretBytes) throws -> Self {
        var fields = try JSONText.decode([String: RunarValue].self, from: body ?? Array("{}".utf8))
        fields["confirmation"] = .string(passphrase.withBytes { String(decoding: $0, as: UTF8.self) })
        return Self(method, template, parameters, query: query, body: fields, requiredPeers: requiredPeers)
    }

    /// The path and the query of the request line.
    var target: String {
        let path = template.split(separator: "/").map { segment in
            guard segment.first == "{" else { return String(segment) }
            return PercentText.encode(parameters[String(segment.dropFirst().dropLast())] ?? "")
        }.joined(separator: "/")
        let pairs = query.sorted { $0.key < $1.key }.map { "\($0)=\(PercentText.encode($1))" }
        return "\(NodeAPI.prefix)/\(path)" + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}

/// The peers that must be connected before a request is useful.
enum RequiredPeers: Sendable {
    case nobody
    case peer(PeerName)
    /// Some member of the network, or of any.
    case member(NetworkName?)
    /// Some member of the only network or the one named.
    case memberOfOne(NetworkName?)
    /// A member with whom the network's events are exchanged.
    case exchange(NetworkName?)
    /// As many as connect within the time limit.
    case everybody
}
