internal import HTTPTypes

/// The header fields of a request or an answer (RFC 9110, section 5), in their order.
package struct HeaderFields: Hashable, Sendable {
    /// The fields that frame a message, which only the server sets.
    private static let reserved: Set = ["connection", "content-length", "transfer-encoding", "upgrade", "trailer"]

    /// The fields in the form of the library.
    private(set) var http: HTTPFields

    package init() { http = [:] }

    init(_ http: HTTPFields) { self.http = http }

    /// The value of a field, by its name in any case; several values are joined by a comma.
    package subscript(name: String) -> String? { HTTPField.Name(name).flatMap { http[$0] } }

    /// Returns the values of a field, one for each line.
    package func values(of name: String) -> [String] { HTTPField.Name(name).map { http[values: $0] } ?? [] }

    /// Adds a field to those of an answer.
    ///
    /// - Throws: ``HeaderFieldError`` if the name or the value could change the message, or the server sets the field.
    package mutating func append(_ name: String, _ value: String) throws(HeaderFieldError) {
        guard let fieldName = HTTPField.Name(name), !name.hasPrefix(":") else { throw .badName }
        guard !Self.reserved.contains(fieldName.canonicalName) else { throw .reserved(name: fieldName.canonicalName) }
        guard HTTPField.isValidValue(value) else { throw .badValue(name: fieldName.canonicalName) }
        http.append(HTTPField(name: fieldName, value: value))
    }

    /// Replaces the fields that `other` has, and adds its other ones.
    mutating func replace(with other: HeaderFields) {
        for field in other.http { http[values: field.name] = [] }
        http.append(contentsOf: other.http)
    }
}

/// The reason why a header field is refused.
package enum HeaderFieldError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name is not a token of RFC 9110.
    case badName
    /// The value has a character that ends or hides a line, or it begins or ends with a space.
    case badValue(name: String)
    /// The server sets the field.
    case reserved(name: String)

    package var description: String {
        switch self {
        case .badName: "the name of a header field is not a token"
        case .badValue(let name): "the value of the header field \(name) has a character that is not allowed"
        case .reserved(let name): "the server sets the header field \(name)"
        }
    }
}
