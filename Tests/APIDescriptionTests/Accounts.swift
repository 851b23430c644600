internal import CommandModel
internal import Failures
internal import HTTPAPI

@testable internal import APIDescription

/// The endpoints of a small server.
enum Accounts {
    struct Name: PathText {
        static let parameter = "name"
        let text: String

        init(_ text: String) { self.text = text }
    }

    enum Kind: String, Codable, CaseIterable, Sendable { case person, device }

    struct Key: Codable, Sendable, Equatable {
        let id: String
        let kind: Kind
    }

    struct Form: Codable, Sendable {
        let keys: [Key]
        let note: String?
    }

    struct Account: Codable, Sendable, Equatable {
        let name: String
        let keys: [Key]
        let labels: [String: String]
    }

    struct Query: Codable, Sendable {
        let limit: UInt16?
        let kind: Kind?
    }

    enum AccountError: CodedError, CustomStringConvertible {
        case unknown(String)
        case damaged(path: String)

        var failureCode: FailureCode {
            switch self {
            case .unknown: FailureCode("no-account", .unknown, .noInput)
            case .damaged: FailureCode("damaged-store", .storage, .inputOutput)
            }
        }

        var description: String {
            switch self {
            case .unknown(let name): "there is no account \(name)"
            case .damaged(let path): "\(path) is damaged"
            }
        }
    }

    static let create = Endpoint<Name, Form, Account>(
        .post,
        "/accounts/{name}",
        .none,
        limit: 4096,
        status: 201,
        notes: EndpointNotes(
            summary: "Create an account",
            details: "The first key signs.",
            tags: ["accounts"],
            answerFields: ["x-auth-token": "The token of the account."],
            failures: [409: "The name is taken."]
        )
    )

    static let find = Endpoint<Name, Query, Account>(
        .get,
        "/accounts/{name}",
        .none,
        notes: EndpointNotes(summary: "Find an account", failures: [404: "No account has the name."])
    )

    static let delete = Endpoint<Name, NoForm, NoAnswer>(
        .delete,
        "/accounts/{name}",
        .bearer,
        .empty,
        notes: EndpointNotes(extensions: ["x-audit": true])
    )

    static let logo = Endpoint<NoPath, NoForm, NoAnswer>(.get, "/logo", .none, .file)
    static let motto = Endpoint<NoPath, NoForm, NoAnswer>(.get, "/motto", .none, .text)
    static let changes = Endpoint<NoPath, NoForm, NoAnswer>(
        .get,
        "/changes",
        Credentials([.bearer, .field("x-auth-token")]),
        .lines { [try SchemaReader.schema(of: Account.self)] }
    )
    static let upload = Endpoint<NoPath, Query, NoAnswer>(.put, "/logo", .bearer, .empty, body: .bytes(limit: 100))

    static let resolve = Endpoint<NoPath, Query, Account>(
        .get,
        "/resolve",
        .none,
        notes: EndpointNotes(
            failures: [404: "No account has the name."],
            failure: .object(ObjectSchema(fields: [ObjectSchema.Field(name: "error", schema: .string)]))
        )
    )

    static let document = OpenAPIDocument(title: "Accounts", version: "2", servers: ["https://example.org"])

    /// The endpoints with handlers that know one account, `ada`.
    static var served: [ServedEndpoint] {
        [
            create.respond { request in
                let account = Account(name: request.path.text, keys: request.form.keys, labels: [:])
                return try create.report(account).adding("x-auth-token", "token-of-\(account.name)")
            },
            find.serve { request in
                switch request.path.text {
                case "ada": Account(name: "ada", keys: [], labels: ["limit": "\(request.form.limit ?? 0)"])
                case "broken": throw AccountError.damaged(path: "/var/lib/accounts")
                case "odd": throw Odd()
                default: throw AccountError.unknown(request.path.text)
                }
            },
            delete.serveAction { request in
                guard try request.token == "right" else {
                    throw RouteFailure(401, "no-token", "the token is not valid")
                }
            },
            logo.respond { _ in .download([1, 2], name: "logo.png") },
            motto.respond { _ in .text("Keep it short.") },
            changes.respond { _ in .lines { await $0.write([]) } },
            upload.serveAction { _ in },
            resolve.serve(
                EndpointRules(failure: { error, _ in
                    let failure = RouteFailure(answering: error)
                    return .json(JSONText.bytes(["error": failure.code]), status: failure.status)
                })
            ) { _ in throw AccountError.unknown("x") },
        ]
    }

    private struct Odd: Error {
        let secret = "hunter2"
    }
}
