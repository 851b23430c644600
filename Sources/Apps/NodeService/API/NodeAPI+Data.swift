internal import Bytes
internal import Console
internal import Foundation
internal import Identity
internal import RunarNode

// Values, events and services.
extension NodeAPI {
    /// The duration of a request.
    private struct Took: Codable {
        let milliseconds: Int
    }

    /// A day; more is a slip.
    private static let longestWait = 86_400.0
    /// The seven days that a table allows.
    private static let longestRecordLife = 7 * 86_400.0

    var dataOperations: [APIOperation] {
        [
            route(
                .get,
                "/networks/{network}/records",
                .overTheNetwork,
                .query(Joined<RecordsQuery, PageQuery>.self)
            ) { request, queries in
                let (query, page) = queries.parts
                return try handler.recordsView(of: request.network, query.whose ?? .held, page.page())
            },
            route(
                .put,
                "/networks/{network}/records",
                .overTheNetwork,
                .json(Joined<KeyForm, PutForm, ContentForm>.self, limit: Self.contentByteLimit),
                needsNetwork: true,
                changes: [.records]
            ) { request, forms in
                let (key, form, content) = forms.parts
                return try await handler.put(
                    try content.bytes(),
                    under: try Self.key(key, of: request),
                    try Self.condition(form),
                    lifetime: try Self.duration(form.lifeSeconds, "lifeSeconds", upTo: Self.longestRecordLife)
                )
            },
            route(
                .post,
                "/networks/{network}/records/get",
                .overTheNetwork,
                .json(Joined<KeyForm, GetForm>.self),
                needsNetwork: true
            ) { request, forms in
                let (key, form) = forms.parts
                let options = GetOptions(
                    writer: form.writer.map { PeerName(form: $0) },
                    isAll: form.all ?? false,
                    isCached: form.cached ?? true
                )
                return try await handler.get(Self.key(key, of: request), options)
            },
            route(
                .post,
                "/networks/{network}/records/delete",
                .overTheNetwork,
                .json(KeyForm.self),
                needsNetwork: true,
                changes: [.records]
            ) { request, form in
                try await handler.delete(Self.key(form, of: request))
            },
        ] + topicOperations
    }

    private var topicOperations: [APIOperation] {
        [
            route(
                .post,
                "/networks/{network}/events",
                .overTheNetwork,
                .json(Joined<TopicForm, ContentForm>.self, limit: Self.contentByteLimit),
                needsNetwork: true
            ) { request, forms in
                let (form, content) = forms.parts
                let topic = try Self.topic(form.topic)
                return try await handler.publish(content.bytes(), to: topic, in: request.network)
            },
            eventStream(
                .post,
                "/networks/{network}/subscriptions",
                .overTheNetwork,
                .json(SubscriptionForm.self),
                updates: [.subscribed, .published, .event],
                needsNetwork: true
            ) { request, form in
                let topic = try Self.topic(form.topic)
                let network = try handler.resolve(request.network)
                guard network.isMember else { throw NodeError.notAMember(network.networkId) }
                return { tell in
                    try await handler.subscribe(to: topic, in: network, includesPast: form.past ?? false, tell)
                    return DoneReport(done: true)
                }
            },
            route(.get, "/services", .overTheNetwork, .query(ServicesQuery.self), needsNetwork: true) { _, query in
                try await handler.services(
                    of: query.peer.map { PeerName(form: $0) },
                    in: query.network.map { NetworkName(form: $0) }
                )
            },
            route(
                .post,
                "/call",
                .overTheNetwork,
                .json(CallForm.self, limit: Self.contentByteLimit),
                needsNetwork: true,
                endsWithClient: true
            ) { _, form in
                let order = try Self.order(form)
                let start = ContinuousClock.now
                let report = try await handler.call(order)
                return Joined(report, Took(milliseconds: start.duration(to: .now).milliseconds))
            },
        ]
    }

    private static func key(_ form: KeyForm, of request: RouteRequest) throws -> TableKey {
        guard !form.key.isEmpty else { throw RouteRequest.badField("key", "is empty") }
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
                throw RouteRequest.badField("version", "is missing: the condition ifVersion needs it")
            }
            return .ifVersion(version)
        }
    }

    private static func topic(_ topic: String) throws -> String {
        let path = try TopicPath(topic)
        guard path.network.isEmpty else {
            throw RouteRequest.badField("topic", "must not name a network: the address of this request already does")
        }
        return topic
    }

    private static func order(_ form: CallForm) throws -> ServiceCall {
        let path = try TopicArgument(form.path, network: form.network.map { RouteRequest.plainId($0) })
        guard !path.path.isPattern, path.path.segments.count > 1 else {
            throw RouteRequest.badField("path", "must be a service, a slash and an action, as in math/add")
        }
        let payload: Data
        switch (form.payload, form.base64) {
        case (let value?, nil): payload = Data(JSONText.bytes(value))
        case (nil, let text?): payload = try ContentForm.decode(text, "base64")
        case (nil, nil): payload = Data()
        case (_?, _?): throw RouteRequest.badField("payload", "or \"base64\" may give the payload, but not both")
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
            throw RouteRequest.badField(field, "must be more than 0 and at most \(Int(limit)) seconds")
        }
        return .seconds(seconds)
    }
}
