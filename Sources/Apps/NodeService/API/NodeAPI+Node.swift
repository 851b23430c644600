package import APIDescription
internal import CommandModel
internal import HTTPAPI
internal import Identity
internal import Logging
package import NodeModel
internal import Platform
internal import RunarNode

// The node itself.
extension Operations {
    package static let status = Operation<NoPath, NoForm, StatusReport>(.get, "/status", .overTheNetwork)

    static let node = Operation<NoPath, NoForm, NodeView>(.get, "/node", .overTheNetwork)

    package static let stop = Operation<NoPath, NoForm, StopReport>(.post, "/node/stop", .overTheNetwork)

    static let doctor = Operation<NoPath, PeerQuery, DoctorReport>(.get, "/doctor", .overTheNetwork)

    /// The node's facts for `doctor`, with those about one peer if it is given.
    package static let doctorFacts = Operation<NoPath, PeerQuery, NodeFacts>(.get, "/doctor/facts", .overTheNetwork)

    static let storage = Operation<NoPath, NoForm, StorageView>(.get, "/storage", .overTheNetwork)

    static let logs = Operation<NoPath, LogQuery, LogRing.Report>(.get, "/logs", .overTheNetwork)

    static let logLevel = Operation<NoPath, NoForm, LogRing.Levels>(.get, "/log-level", .overTheNetwork)

    static let setLogLevel = Operation<NoPath, NodeAPI.LevelForm, LogRing.Levels>(.put, "/log-level", .overTheNetwork)

    static let setSetting = Operation<SettingName, NodeAPI.SettingForm, SettingReport>(
        .put,
        "/settings/{key}",
        .atThisDevice
    )

    static let activity = Operation<NoPath, ActivityQuery, NoForm>(
        .get,
        "/activity",
        .overTheNetwork,
        .lines { try Activity.schemas() }
    )
}

extension NodeAPI {
    struct LevelForm: Decodable {
        /// Null to inherit the general level.
        ///
        /// Required: a missing field is no null.
        let level: Logger.Level?
        let subsystem: LogSubsystem?

        private enum CodingKeys: String, CodingKey {
            case level, subsystem
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            level = try container.decode(Logger.Level?.self, forKey: .level)
            subsystem = try container.decodeIfPresent(LogSubsystem.self, forKey: .subsystem)
        }
    }

    struct SettingForm: Decodable {
        let values: [String]
    }

    var nodeOperations: [APIOperation] {
        [
            serve(Operations.status) { _ in try handler.status() },
            serve(Operations.node) { _ in handler.nodeView(of: try watch) },
            respond(to: Operations.stop) { _ in
                let (report, stop) = try handler.stopNode()
                return .last(JSONText.bytes(report), then: stop)
            },
            serve(Operations.doctor) { request in
                let peer = request.form.peer.map { IdText.plain($0) }
                let facts = try await handler.facts(about: peer.map { PeerName($0) })
                return DoctorReport(Diagnosis(DoctorFacts(node: facts, askedPeer: peer), for: .console))
            },
            serve(Operations.doctorFacts) { try await handler.facts(about: $0.form.peer.map { PeerName(form: $0) }) },
            serve(Operations.storage) { _ in try handler.storageView(of: watch) },
            serve(Operations.logs) { try watch.logs.lines($0.form.checked()) },
            serve(Operations.logLevel) { _ in try watch.logs.levels },
        ] + watchOperations
    }

    private var watchOperations: [APIOperation] {
        [
            serve(Operations.setLogLevel) { request in
                let watch = try watch
                switch (request.form.level, request.form.subsystem) {
                case (let level?, let subsystem): watch.logs.set(level, in: subsystem)
                case (nil, let subsystem?): watch.logs.unset(subsystem)
                case (nil, nil): throw RouteRequest.badField("level", "may be null only together with \"subsystem\"")
                }
                watch.activity.tell(ActivityChanged(what: [.logLevel]))
                return watch.logs.levels
            },
            serve(Operations.setSetting) { request in
                let key = request.path.text
                guard let setting = Setting(rawValue: key) else {
                    throw RouteFailure(404, "no-such-setting", "there is no setting \"\(key)\"")
                }
                let watch = try watch
                let report = try await watch.settings.change(setting, to: request.form.values) {
                    try await apply(setting, $0)
                }
                watch.activity.tell(ActivityChanged(what: [.settings, .logLevel]))
                return report
            },
            respond(to: Operations.activity) { request in
                let stream = try watch.activity.lines(
                    boot: request.form.boot,
                    since: request.form.since,
                    follows: request.form.follow ?? true
                )
                return .lines { lines in
                    for await line in stream {
                        guard await lines.write(line) else { return }
                    }
                }
            },
        ]
    }

    /// Applies a setting to the running node if it acts at once.
    private func apply(_ setting: Setting, _ texts: [String]) async throws {
        switch setting {
        case .discovery:
            guard try SwitchText.parse(texts[0]) else { return await node.discoveryService.stop() }
            try node.discoveryService.start()
        case .logLevel:
            let (common, own) = try Setting.levels(texts[0])
            let watch = try watch
            watch.logs.set(common, in: nil)
            for (subsystem, level) in own { watch.logs.set(level, in: subsystem) }
        default: break
        }
    }
}

// The console on other screens of the local network.
extension Operations {
    static let lan = Operation<NoPath, NoForm, NodeAPI.Lan>(.get, "/lan", .overTheNetwork)

    static let setLan = Operation<NoPath, NodeAPI.LanForm, NodeAPI.Lan>(
        .put,
        "/lan",
        .atThisDevice,
        changes: [.settings]
    )

    /// Streams a link by which a device of the local network signs in to the console, at that address or the first, and
    /// waits until one has signed in.
    package static let pairConsole = Operation<NoPath, PairingForm, PairingEnd>(
        .post,
        "/lan/pairing",
        .atThisDevice,
        .updates([.pairing])
    )
}

extension NodeAPI {
    struct LanForm: Decodable {
        let on: Bool
        let port: UInt16?
    }

    struct Lan: Codable {
        let on: Bool
        /// The port of the console, or the port that it would have.
        let port: UInt16
        let addresses: [String]
        let fingerprint: String?
        /// The last second of the certificate since 1970.
        let expires: UInt64?
        let source: SettingSource
        /// Whether the client may change it, because it is on the device itself.
        let here: Bool
    }

    var lanOperations: [APIOperation] {
        [
            serve(Operations.lan) { try lanView($0.origin) },
            serve(Operations.setLan) { request in
                if request.form.port == 0 { throw RouteRequest.badField("port", "must be a number from 1 to 65535") }
                let lan = try lan()
                try await lan.change(to: request.form.on ? request.form.port ?? lan.usualPort : nil)
                return try lanView(request.origin)
            },
            stream(Operations.pairConsole) { request in
                { tell in try await pairConsole(at: request.form.address, tell) }
            },
        ]
    }

    private func lan() throws(RouteFailure) -> ConsoleLan {
        guard let console else {
            throw RouteFailure(503, "no-console", "this node has no console of its own")
        }
        return console.lan
    }

    private func lanView(_ origin: RouteRequest.Origin) throws -> Lan {
        let lan = try lan()
        let place = lan.currentPlace
        return Lan(
            on: place != nil,
            port: place?.port ?? lan.usualPort,
            addresses: place?.addresses ?? [],
            fingerprint: place?.fingerprint,
            expires: place?.endSeconds,
            source: lan.report.source,
            here: origin != .network
        )
    }
}
