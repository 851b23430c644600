internal import Identity

/// The encrypted policy of a sealed token: a policy object of OpenTDF without restrictions, and the issuer.
struct IdentityTokenPolicy {
    private static let limits = JSONLimits(byteCount: 2048, fieldCount: 8, depth: 3)

    let tokenId: UniqueId
    let issuer: String

    init(tokenId: UniqueId, issuer: ServiceURL) {
        self.tokenId = tokenId
        self.issuer = issuer.text
    }

    /// The policy in JSON.
    var content: [UInt8] {
        let body = #"{"dataAttributes":[],"dissem":[]}"#
        return Array(#"{"uuid":"\#(tokenId.text)","body":\#(body),"iss":"\#(issuer)"}"#.utf8)
    }

    /// Reads a policy, whose restrictions must be empty because none is evaluated.
    init(_ content: [UInt8]) throws(IdentityTokenError) {
        let fields: [JSONField]
        do { fields = try JSONValue.fields(of: content, limits: Self.limits) } catch {
            throw .policyViolation(reason: error.description)
        }
        // No two fields have one name, so the number of fields excludes others.
        guard fields.count == 3,
            case .string(let uuid)? = Self.value("uuid", in: fields),
            case .object(let body)? = Self.value("body", in: fields),
            case .string(let issuer)? = Self.value("iss", in: fields)
        else { throw .policyViolation(reason: "it has other fields than uuid, body and iss") }
        guard body.count == 2, Self.value("dataAttributes", in: body) == .array([]),
            Self.value("dissem", in: body) == .array([])
        else {
            throw .policyViolation(reason: "it has restrictions, and none can be evaluated here")
        }
        do { tokenId = try UniqueId(text: uuid) } catch { throw .policyViolation(reason: error.description) }
        self.issuer = issuer
    }

    private static func value(_ name: String, in fields: [JSONField]) -> JSONValue? {
        fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}
