internal import Identity

/// A header field of a request or a response.
package struct WebField: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request to a web server.
package struct WebRequest: Sendable {
    package var method: String
    package var url: WebURL
    /// The header fields besides those that frame the message, which the client sets.
    package var fields: [WebField]
    package var body: [UInt8]

    /// Makes a GET request.
    package init(_ url: WebURL, fields: [WebField] = []) {
        self.init("GET", url, fields: fields)
    }

    package init(_ method: String, _ url: WebURL, fields: [WebField] = [], body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }

    /// The methods whose repetition has the effect of one request (RFC 9110, section 9.2.2).
    private static let idempotent: Set = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]
    /// The methods whose requests have a length even without a body (RFC 9110, section 8.6).
    private static let withBody: Set = ["POST", "PUT", "PATCH"]
    private static let reserved: Set = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "expect", "upgrade", "te",
        "trailer",
    ]
    /// The longest head besides the target.
    private static let fieldByteLimit = 32 * 1024

    /// Whether the request may be sent again when nothing of the answer was received.
    var isIdempotent: Bool { Self.idempotent.contains(method) }

    /// Whether the request states a length.
    var hasLength: Bool { !body.isEmpty || Self.withBody.contains(method) }

    /// Checks everything that could change the form of the message.
    ///
    /// - Throws: ``WebClientError/invalidRequest(reason:)``.
    func check(bodyLimit: Int) throws(WebClientError) {
        guard Self.isToken(method), method.utf8.count <= 32, method != "CONNECT" else {
            throw .invalidRequest(reason: "the method is not one that servers receive")
        }
        guard body.count <= bodyLimit else {
            throw .invalidRequest(reason: "the body has \(body.count) bytes, and at most \(bodyLimit) are sent")
        }
        for field in fields {
            guard Self.isToken(field.name) else {
                throw .invalidRequest(reason: "\(PlainText.quoted(field.name)) is not the name of a header field")
            }
            guard !Self.reserved.contains(field.name.lowercased()) else {
                throw .invalidRequest(reason: "the client sets the header field \(field.name)")
            }
            guard field.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw .invalidRequest(reason: "the value of the header field \(field.name) is not printable ASCII")
            }
        }
        let byteCount = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard byteCount <= Self.fieldByteLimit else {
            throw .invalidRequest(reason: "the header fields have more than \(Self.fieldByteLimit) bytes")
        }
    }

    private static let tokenMarks = Set("!#$%&'*+-.^_`|~".utf8)

    /// Whether a text is a token (RFC 9110, section 5.6.2).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: tokenMarks.contains(byte)
                }
            }
    }
}

/// The response of a web server.
package struct WebResponse: Sendable {
    package let status: Int
    /// The header fields in their order.
    package let fields: [WebField]
    package let body: [UInt8]

    package init(status: Int, fields: [WebField], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The first value of a header field, by its name in any case.
    package subscript(name: String) -> String? { values(of: name).first }

    /// Returns the values of a header field, one for each line.
    package func values(of name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}
