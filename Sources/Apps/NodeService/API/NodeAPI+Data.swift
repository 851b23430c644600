package import APIDescription
internal import Bytes
package import CommandModel
internal import Foundation
internal import HTTPAPI
internal import Identity
package import NodeModel
internal import RunarNode

// Values, events and services.
extension Operations {
    private static let records = "/networks/{network}/records"

    static let recordsView = Operation<NetworkName?, Joined<RecordsQuery, PageQuery>, RecordsView>(
        .get,
        records,
        .overTheNetwork
    )

    /// Stores a value.
    package static let put = Operation<NetworkName?, Joined<KeyForm, PutForm, ContentForm>, PutReport>(
        .put,
        records,
        .overTheNetwork,
        limit: NodeAPI.contentByteLimit,
        needsNetwork: true,
        changes: [.records],
        requiredPeers: { network, _ in .memberOfOne(network) }
    )

    /// Reads values.
    package static let get = Operation<NetworkName?, Joined<KeyForm, GetForm>, RecordsReport>(
        .post,
        "\(records)/get",
        .overTheNetwork,
        needsNetwork: true,
        requiredPeers: { network, _ in .memberOfOne(network) }
    )

    /// Deletes a value.
    package static let delete = Operation<NetworkName?, KeyForm, DeleteReport>(
        .post,
        "\(records)/delete",
        .overTheNetwork,
        needsNetwork: true,
        changes: [.records],
        requiredPeers: { network, _ in .memberOfOne(network) }
    )

    /// Publishes an event to a topic.
    package static let publish = Operation<NetworkName?, Joined<TopicForm, ContentForm>, PublishedReport>(
        .post,
        "/networks/{network}/events",
        .overTheNetwork,
        limit: NodeAPI.contentByteLimit,
        needsNetwork: true,
        requiredPeers: { network, _ in .exchange(network) }
    )

    /// Streams the events of a topic or pattern.
    package static let subscribe = Operation<NetworkName?, SubscriptionForm, DoneReport>(
        .post,
        "/networks/{network}/subscriptions",
        .overTheNetwork,
        .updates([.subscribed, .published, .event]),
        needsNetwork: true
    )

    /// The services of a peer, or of all connected peers and this device.
    package static let services = Operation<NoPath, ServicesQuery, ServicesReport>(
        .get,
        "/services",
        .overTheNetwork,
        needsNetwork: true,
        // The first peer connected is not all of them.
        requiredPeers: { _, _ in .everybody }
    )

    /// Calls an action of a service.
    package static let call = Operation<NoPath, CallForm, Joined<CalledReport, NodeAPI.Took>>(
        .post,
        "/call",
        .overTheNetwork,
        limit: NodeAPI.contentByteLimit,
        needsNetwork: true,
        endsWithClient: true,
        requiredPeers: { _, form in .memberOfOne(form.network.map { NetworkName($0) }) }
    )
}

extension NodeAPI {
    /// The duration of a request.
    package struct Took: Codable, Sendable {
        let milliseconds: Int
    }

    /// A day; more is a slip.
    private static let longestWait = 86_400.0
    /// The seven days that a table allows.
    private static let longestRecordLife = 7 * 86_400.0

    var dataOperations: [APIOperation] {
        [
            serve(Operations.recordsView) { request in
                let (query, page) = request.form.parts
                return try handler.recordsView(of: request.path, query.whose ?? .held, page.page())
            },
            serve(Operations.put) { request in
                let (key, form, content) = request.form.parts
                return try await handler.put(
                    try content.bytes(),
                    under: try Self.key(key, in: request.path),
                    try Self.condition(form),
                    lifetime: try Self.duration(form.lifeSeconds, "lifeSeconds", upTo: Self.longestRecordLife)
                )
            },
            serve(Operations.get) { request in
                let (key, form) = request.form.parts
                let options = GetOptions(
                    writer: form.writer.map { PeerName(form: $0) },
                    isAll: form.all ?? false,
                    isCached: form.cached ?? true
                )
                return try await handler.get(Self.key(key, in: request.path), options)
            },
            serve(Operations.delete) { try await handler.delete(Self.key($0.form, in: $0.path)) },
        ] + topicOperations
    }

    private var topicOperations: [APIOperation] {
        [
            serve(Operations.publish) { request in
                let (form, content) = request.form.parts
                return try await handler.publish(content.bytes(), to: Self.topic(form.topic), in: request.path)
            },
            streamUpdates(Operations.subscribe) { request in
                let topic = try Self.topic(request.form.topic)
                let network = try handler.resolve(request.path)
                guard network.isMember else { throw NodeError.notAMember(network.networkId) }
                let includesPast = request.form.past ?? false
                return { tell in try await handler.subscribe(to: topic, in: network, includesPast: includesPast, tell) }
            },
            serve(Operations.services) { request in
                try await handler.services(
                    of: request.form.peer.map { PeerName(form: $0) },
                    in: request.form.network.map { NetworkName(form: $0) }
                )
            },
            serve(Operations.call) { request in
                let order = try Self.order(request.form)
                let start = handler.now.monotonic
                let report = try await handler.call(order)
                return Joined(report, Took(milliseconds: (handler.now.monotonic - start).milliseconds))
            },
        ]
    }

    private static func key(_ form: KeyForm, in network: NetworkName?) throws -> TableKey {
        guard !form.key.isEmpty else { throw RouteRequest.badField("key", "is empty") }
        return TableKey(
            text: form.key,
            format: form.format ?? .text,
            network: network,
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
        let path = try TopicArgument(form.path, network: form.network.map { IdText.plain($0) })
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
