package import HTTPAPI

/// The credentials that a request needs: a token for one of some schemes, or none.
package struct Credentials: Hashable, Sendable {
    /// A scheme, as OpenAPI describes it.
    package struct Scheme: Hashable, Sendable {
        /// The place of the token.
        fileprivate enum Place: Hashable, Sendable {
            case authorization
            case field
        }

        /// The name among the components of a description; that of the field, unless it is `Authorization`.
        package let name: String
        fileprivate let place: Place

        /// A bearer token in the field `Authorization` (RFC 6750, section 2.1).
        package static let bearer = Scheme(name: "bearer", place: .authorization)

        /// A token that is the value of a field.
        package static func field(_ name: String) -> Scheme { Scheme(name: name, place: .field) }

        /// The security scheme object.
        var definition: JSONDocument {
            switch place {
            case .authorization: ["type": "http", "scheme": "bearer"]
            case .field: ["type": "apiKey", "in": "header", "name": .string(name)]
            }
        }

        /// Returns the token; nil if the request has none, several, or one with characters that tokens do not have.
        fileprivate func token(in request: RouteRequest) -> String? {
            let fieldName = place == .authorization ? "Authorization" : name
            let values = request.fields.values(of: fieldName)
            guard values.count == 1 else { return nil }
            var words = values[0].split(separator: " ")
            if place == .authorization {
                guard words.first?.lowercased() == "bearer" else { return nil }
                words.removeFirst()
            }
            guard words.count == 1, words[0].utf8.allSatisfy(Self.isOfToken) else { return nil }
            return String(words[0])
        }

        /// Whether a token can have the byte (`b64token`, RFC 6750).
        private static func isOfToken(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~+/=".utf8.contains(byte)
            }
        }
    }

    /// The schemes, of which a request uses one; empty if it needs no credentials.
    package let schemes: [Scheme]

    package init(_ schemes: [Scheme]) {
        self.schemes = schemes
    }

    package static let none = Credentials([])
    package static let bearer = Credentials([.bearer])

    /// Returns the token of the first scheme that a request uses.
    ///
    /// - Throws: ``RouteFailure`` with status 401 if it uses none.
    package func token(in request: RouteRequest) throws(RouteFailure) -> String {
        for scheme in schemes {
            if let token = scheme.token(in: request) { return token }
        }
        let places = schemes.map { $0 == .bearer ? "Authorization: Bearer" : $0.name }
        throw RouteFailure(401, "no-token", "send a token in the field \(places.joined(separator: " or "))")
    }
}
