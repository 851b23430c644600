internal import Console
internal import Identity
internal import Logging
internal import Platform
internal import RunarNode

// The node itself.
extension NodeAPI {
    private struct LevelForm: Decodable {
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

    private struct SettingForm: Decodable {
        let values: [String]
    }

    var nodeOperations: [APIOperation] {
        [
            route(.get, "/status", .overTheNetwork) { _ in try handler.status() },
            route(.get, "/node", .overTheNetwork) { _ in handler.nodeView(of: try watch) },
            stopOperation,
            route(.get, "/doctor", .overTheNetwork, .query(PeerQuery.self)) { _, query in
                let peer = query.peer.map { RouteRequest.plainId($0) }
                let facts = try await handler.facts(about: peer.map { PeerName($0) })
                return DoctorReport(Diagnosis(DoctorFacts(node: facts, askedPeer: peer), for: .console))
            },
            route(.get, "/doctor/facts", .overTheNetwork, .query(PeerQuery.self)) { _, query in
                try await handler.facts(about: query.peer.map { PeerName(form: $0) })
            },
            route(.get, "/storage", .overTheNetwork) { _ in try handler.storageView(of: watch) },
            route(.get, "/logs", .overTheNetwork, .query(LogQuery.self)) { _, query in
                try watch.logs.lines(query.checked())
            },
            route(.get, "/log-level", .overTheNetwork) { _ in try watch.logs.levels },
            route(.put, "/log-level", .overTheNetwork, .json(LevelForm.self)) { _, form in
                let watch = try watch
                switch (form.level, form.subsystem) {
                case (let level?, let subsystem): watch.logs.set(level, in: subsystem)
                case (nil, let subsystem?): watch.logs.unset(subsystem)
                case (nil, nil): throw RouteRequest.badField("level", "may be null only together with \"subsystem\"")
                }
                watch.activity.tell(ActivityChanged(what: [.logLevel]))
                return watch.logs.levels
            },
            route(.put, "/settings/{key}", .atThisDevice, .json(SettingForm.self)) { request, form in
                guard let setting = Setting(rawValue: request["key"]) else {
                    throw RouteFailure(404, "no-such-setting", "there is no setting \"\(request["key"])\"")
                }
                let watch = try watch
                let report = try await watch.settings.change(setting, to: form.values) { try await apply(setting, $0) }
                watch.activity.tell(ActivityChanged(what: [.settings, .logLevel]))
                return report
            },
            special(
                .get,
                "/activity",
                .overTheNetwork,
                .query(ActivityQuery.self),
                answers: { .lines(try Activity.schemas()) }
            ) { _, query in
                let stream = try watch.activity.lines(
                    boot: query.boot,
                    since: query.since,
                    follows: query.follow ?? true
                )
                return .lines { lines in
                    for await line in stream {
                        guard await lines.write(line) else { return }
                    }
                }
            },
        ]
    }

    private var stopOperation: APIOperation {
        special(
            .post,
            "/node/stop",
            .overTheNetwork,
            RouteInput<NoForm>(body: .json()),
            answers: { .report(try SchemaReader.schema(of: StopReport.self), status: 200) },
            { _, _ in
                let (report, stop) = try handler.stopNode()
                return .last(JSONText.bytes(report), then: stop)
            }
        )
    }

    /// Applies a setting to the running node if it acts at once.
    private func apply(_ setting: Setting, _ texts: [String]) async throws {
        switch setting {
        case .discovery:
            guard try SwitchText.parse(texts[0]) else { return await node.discoveryService.stop() }
            try node.discoveryService.start()
        case .logLevel:
            let (common, own) = try Settings.levels(texts[0])
            let watch = try watch
            watch.logs.set(common, in: nil)
            for (subsystem, level) in own { watch.logs.set(level, in: subsystem) }
        default: break
        }
    }
}

// The console on other screens of the local network.
extension NodeAPI {
    private struct LanForm: Decodable {
        let on: Bool
        let port: UInt16?
    }

    private struct Lan: Codable {
        let on: Bool
        /// The port of the console, or the port that it would have.
        let port: UInt16
        let addresses: [String]
        let fingerprint: String?
        /// The last second of the certificate since 1970.
        let expires: UInt64?
        let source: Settings.Source
        /// Whether the client may change it, because it is on the device itself.
        let here: Bool
    }

    var lanOperations: [APIOperation] {
        [
            route(.get, "/lan", .overTheNetwork) { request in try lanView(request) },
            route(.put, "/lan", .atThisDevice, .json(LanForm.self), changes: [.settings]) { request, form in
                if form.port == 0 { throw RouteRequest.badField("port", "must be a number from 1 to 65535") }
                let lan = try lan()
                try await lan.change(to: form.on ? form.port ?? lan.usualPort : nil)
                return try lanView(request)
            },
            eventStream(.post, "/lan/pairing", .atThisDevice, .json(PairingForm.self), updates: [.pairing]) { _, form in
                { tell in try await handler.pairConsole(at: form.address, tell) }
            },
        ]
    }

    private func lan() throws(RouteFailure) -> ConsoleLan {
        guard let console = handler.console else {
            throw RouteFailure(503, "no-console", "this node has no console of its own")
        }
        return console.lan
    }

    private func lanView(_ request: RouteRequest) throws -> Lan {
        let lan = try lan()
        let place = lan.currentPlace
        return Lan(
            on: place != nil,
            port: place?.port ?? lan.usualPort,
            addresses: place?.addresses ?? [],
            fingerprint: place?.fingerprint,
            expires: place?.endSeconds,
            source: lan.report.source,
            here: request.origin != .network
        )
    }
}

/// A link by which a device of the local network gets into the console.
package struct PairingReport: Codable, Hashable, Sendable {
    var event = "pairing"
    /// With a secret for one browser.
    package let link: String
    let address: String
    /// The fingerprint of the certificate that the browser asks about.
    package let fingerprint: String
    /// The last second of the link since 1970.
    let expires: UInt64
}

/// The outcome of a pairing link.
package struct PairingEnd: Report {
    /// Whether a browser has signed in by it; otherwise it expired.
    let used: Bool

    package var lines: [String] {
        [used ? "paired" : "no device used the code within a minute: run the command again for a new one"]
    }
}
