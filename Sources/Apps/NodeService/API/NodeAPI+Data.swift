internal import Bytes
internal import Console
internal import Foundation
internal import Identity
internal import RunarNode

// Values, events and services.
extension NodeAPI {
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

    /// A day; more is a slip.
    private static let longestWait = 86_400.0
    /// The seven days that a table allows.
    private static let longestRecordLife = 7 * 86_400.0

    var dataRoutes: [ConsoleRoute] {
        [
            route(.get, "/networks/{network}/records") { request in
                let text = request.text("whose") ?? RecordsView.Whose.held.rawValue
                guard let whose = RecordsView.Whose(rawValue: text) else {
                    throw ConsoleRequest.badField("whose", "must be own or held")
                }
                return try handler.recordsView(of: request.network, whose, request.page())
            },
            route(
                .put,
                "/networks/{network}/records",
                body: Self.content,
                needsNetwork: true,
                changes: [.records]
            ) { request in
                let form: PutForm = try request.form()
                return try await handler.put(
                    try request.form(ContentForm.self).bytes(),
                    under: try Self.key(request),
                    try Self.condition(form),
                    lifetime: try Self.duration(form.lifeSeconds, "lifeSeconds", upTo: Self.longestRecordLife)
                )
            },
            route(.post, "/networks/{network}/records/get", body: .json(), needsNetwork: true) { request in
                let form: GetForm = try request.form()
                let options = GetOptions(
                    writer: form.writer.map { PeerName(form: $0) },
                    isAll: form.all ?? false,
                    isCached: form.cached ?? true
                )
                return try await handler.get(Self.key(request), options)
            },
            route(
                .post,
                "/networks/{network}/records/delete",
                body: .json(),
                needsNetwork: true,
                changes: [.records]
            ) { request in
                try await handler.delete(Self.key(request))
            },
        ] + topicRoutes
    }

    private var topicRoutes: [ConsoleRoute] {
        [
            route(.post, "/networks/{network}/events", body: Self.content, needsNetwork: true) { request in
                let content = try request.form(ContentForm.self).bytes()
                let topic = try Self.topic(request.form())
                return try await handler.publish(content, to: topic, in: request.network)
            },
            course(.post, "/networks/{network}/subscriptions", body: .json(), needsNetwork: true) { request in
                let form: TopicForm = try request.form()
                let topic = try Self.topic(form)
                let network = try handler.resolve(request.network)
                guard network.isMember else { throw NodeError.notAMember(network.networkId) }
                return { tell in
                    try await handler.subscribe(to: topic, in: network, includesPast: form.past ?? false, tell)
                    return DoneReport(done: true)
                }
            },
            route(.get, "/services", needsNetwork: true) { request in
                try await handler.services(
                    of: request.text("peer").map { PeerName(form: $0) },
                    in: request.text("network").map { NetworkName(form: $0) }
                )
            },
            route(.post, "/call", body: Self.content, needsNetwork: true) { request in
                let order = try Self.order(request.form())
                let start = ContinuousClock.now
                let report = try await handler.call(order)
                return Called(report: report, milliseconds: start.duration(to: .now).milliseconds)
            },
        ]
    }

    private static func key(_ request: ConsoleRequest) throws -> TableKey {
        let form: KeyForm = try request.form()
        guard !form.key.isEmpty else { throw ConsoleRequest.badField("key", "is empty") }
        return TableKey(
            text: form.key,
            format: form.format ?? .text,
            network: request.network,
            timeout: try timeout(form.timeoutSeconds)
        )
    }

    private static func condition(_ form: PutForm) throws -> PutCondition {
        switch form.condition ?? .any {
        case .any: return .any
        case .ifAbsent: return .ifAbsent
        case .ifVersion:
            guard let version = form.version else {
                throw ConsoleRequest.badField("version", "is missing: the condition is that the value has one")
            }
            return .ifVersion(version)
        }
    }

    private static func topic(_ form: TopicForm) throws -> String {
        let path = try TopicPath(form.topic)
        guard path.network.isEmpty else {
            throw ConsoleRequest.badField("topic", "names a network: the address of this request names it already")
        }
        return form.topic
    }

    private static func order(_ form: CallForm) throws -> ServiceCall {
        let path = try TopicArgument(form.path, network: form.network.map { ConsoleRequest.plainId($0) })
        guard !path.path.isPattern, path.path.segments.count > 1 else {
            throw ConsoleRequest.badField("path", "must be a service, a slash and an action, as in math/add")
        }
        let payload: Data
        switch (form.payload, form.base64) {
        case (let value?, nil): payload = Data(JSONText.bytes(value))
        case (nil, let text?): payload = try ContentForm.decode(text, "base64")
        case (nil, nil): payload = Data()
        case (_?, _?): throw ConsoleRequest.badField("payload", "or \"base64\" says what is asked, and not both")
        }
        return ServiceCall(
            path: path.path.path,
            network: path.network,
            payload: payload,
            peer: form.peer.map { PeerName(form: $0) },
            timeout: try timeout(form.timeoutSeconds),
            isIdempotent: form.idempotent ?? false
        )
    }

    private static func timeout(_ seconds: Double?) throws -> Duration? {
        try duration(seconds, "timeoutSeconds", upTo: longestWait)
    }

    private static func duration(_ seconds: Double?, _ field: String, upTo limit: Double) throws -> Duration? {
        guard let seconds else { return nil }
        guard seconds > 0, seconds <= limit else {
            throw ConsoleRequest.badField(field, "must be more than 0 and at most \(Int(limit)) seconds")
        }
        return .seconds(seconds)
    }
}
