internal import Bytes
internal import Console
internal import Foundation
internal import Identity
internal import RunarNode

// Values, events and services.
extension NodeAPI {
    private struct KeyForm: Decodable {
        let key: String
        let format: TableKey.Format?
        let timeoutSeconds: Int?

        /// The key in a network.
        ///
        /// - Throws: ``ConsoleFailure``.
        func tableKey(in network: NetworkName) throws -> TableKey {
            guard !key.isEmpty else { throw ConsoleRequest.badField("key", "is empty") }
            return TableKey(
                text: key,
                format: format ?? .text,
                network: network,
                timeout: try NodeAPI.timeout(timeoutSeconds)
            )
        }
    }

    private struct PutForm: Decodable {
        enum Condition: String, Decodable {
            case any
            case ifAbsent
            case ifVersion
        }

        let lifeSeconds: UInt64?
        let condition: Condition?
        let version: UInt64?

        func putCondition() throws -> PutCondition {
            switch condition ?? .any {
            case .any: return .any
            case .ifAbsent: return .ifAbsent
            case .ifVersion:
                guard let version else {
                    throw ConsoleRequest.badField("version", "is missing: the condition is that the value has one")
                }
                return .ifVersion(version)
            }
        }
    }

    private struct GetForm: Decodable {
        let all: Bool?
        let writer: String?
        let cached: Bool?
    }

    private struct TopicForm: Decodable {
        let topic: String
        let past: Bool?
    }

    private struct CallForm: Decodable {
        let path: String
        let network: String?
        let payload: RunarValue?
        let peer: String?
        let timeoutSeconds: Int?
        let idempotent: Bool?
    }

    /// An answer, and how long it took.
    private struct Called: Encodable {
        let report: CalledReport
        let milliseconds: Int

        private enum CodingKeys: String, CodingKey {
            case milliseconds
        }

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(milliseconds, forKey: .milliseconds)
        }
    }

    private static let longestWait = 600
    /// From a minute to the seven days that a table allows.
    private static let recordLife: ClosedRange<UInt64> = 1...(7 * 86_400)

    var dataRoutes: [ConsoleRoute] {
        [
            route(.get, "/networks/{network}/records") { request in
                let text = request.text("whose") ?? RecordsView.Whose.held.rawValue
                guard let whose = RecordsView.Whose(rawValue: text) else {
                    throw ConsoleRequest.badField("whose", "must be own or held")
                }
                return try handler.recordsView(of: request.network, whose, request.page())
            },
            command(.put, "/networks/{network}/records", body: .json()) { request in
                let form: PutForm = try request.form()
                if let life = form.lifeSeconds, !Self.recordLife.contains(life) {
                    throw ConsoleRequest.badField(
                        "lifeSeconds",
                        "must be 1 to \(Self.recordLife.upperBound), seven days"
                    )
                }
                return .put(
                    try request.form(KeyForm.self).tableKey(in: request.network),
                    value: try request.form(ContentForm.self).bytes(),
                    condition: try form.putCondition(),
                    lifetime: form.lifeSeconds.map { .seconds($0) }
                )
            },
            command(.post, "/networks/{network}/records/get", body: .json()) { request in
                let form: GetForm = try request.form()
                let key = try request.form(KeyForm.self).tableKey(in: request.network)
                let options = GetOptions(
                    writer: form.writer.map { PeerName(form: $0) },
                    isAll: form.all ?? false,
                    isCached: form.cached ?? true
                )
                return .get(key, options)
            },
            command(.post, "/networks/{network}/records/delete", body: .json()) { request in
                .delete(try request.form(KeyForm.self).tableKey(in: request.network))
            },
        ] + topicRoutes
    }

    private var topicRoutes: [ConsoleRoute] {
        [
            command(.post, "/networks/{network}/events", body: .json()) { request in
                let form: TopicForm = try request.form()
                let content = try request.form(ContentForm.self).bytes()
                return .publish(try Self.topic(form), network: request.network, content)
            },
            course(.post, "/networks/{network}/subscriptions", body: .json()) { request in
                let form: TopicForm = try request.form()
                let network = try handler.resolve(request.network)
                guard network.isMember else { throw NodeError.notAMember(network.networkId) }
                return .subscribe(try Self.topic(form), network: request.network, includesPast: form.past ?? false)
            },
            command(.get, "/services") { request in
                .services(
                    request.text("peer").map { PeerName(form: $0) },
                    network: request.text("network").map { NetworkName(form: $0) }
                )
            },
            route(.post, "/call", body: .json()) { request in
                let form: CallForm = try request.form()
                let path = try TopicArgument(form.path, network: form.network.map { ConsoleRequest.plainId($0) })
                guard !path.path.isPattern, path.path.segments.count > 1 else {
                    throw ConsoleRequest.badField("path", "must be a service, a slash and an action, as in math/add")
                }
                let order = ControlRequest.Calling(
                    path: path.path.path,
                    network: path.network,
                    payload: form.payload.map { Data(JSONText.bytes($0)) } ?? Data(),
                    peer: form.peer.map { PeerName(form: $0) },
                    timeout: try Self.timeout(form.timeoutSeconds),
                    isIdempotent: form.idempotent ?? false
                )
                let start = ContinuousClock.now
                let report = try await handler.call(order)
                return Called(report: report, milliseconds: start.duration(to: .now).milliseconds)
            },
        ]
    }

    private static func topic(_ form: TopicForm) throws -> String {
        let path = try TopicPath(form.topic)
        guard path.network.isEmpty else {
            throw ConsoleRequest.badField("topic", "names a network: the address of this request names it already")
        }
        return form.topic
    }

    private static func timeout(_ seconds: Int?) throws -> Duration? {
        guard let seconds else { return nil }
        guard (1...longestWait).contains(seconds) else {
            throw ConsoleRequest.badField("timeoutSeconds", "must be from 1 to \(longestWait)")
        }
        return .seconds(seconds)
    }
}
