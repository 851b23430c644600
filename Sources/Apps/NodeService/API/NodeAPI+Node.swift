internal import Console
internal import Identity
internal import Logging
internal import Platform
internal import RunarNode

// The node itself.
extension NodeAPI {
    private struct LevelForm: Decodable {
        /// Nil for that of everything else.
        let level: Logger.Level?
        let subsystem: String?

        private enum CodingKeys: String, CodingKey {
            case level
            case subsystem
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            subsystem = try container.decodeIfPresent(String.self, forKey: .subsystem)
            // Must be there: one that was forgotten is no wish to have none.
            let text = try container.decode(String?.self, forKey: .level) ?? ""
            level = text.isEmpty ? nil : try container.decode(Logger.Level.self, forKey: .level)
        }
    }

    private struct SettingForm: Decodable {
        let values: [String]
    }

    var nodeRoutes: [ConsoleRoute] {
        [
            route(.get, "/status") { _ in try handler.status() },
            route(.get, "/node") { _ in handler.nodeView(of: try watch) },
            route(.post, "/node/stop", body: .json()) { _ in try handler.stopNode() },
            route(.get, "/doctor") { request in
                let peer = request.text("peer").map { ConsoleRequest.plainId($0) }
                let facts = try await handler.facts(about: peer.map { PeerName($0) })
                return DoctorReport(Diagnosis(DoctorFacts(node: facts, askedPeer: peer), for: .console))
            },
            route(.get, "/doctor/facts") { request in
                try await handler.facts(about: request.text("peer").map { PeerName(form: $0) })
            },
            route(.get, "/storage") { _ in try handler.storageView(of: watch) },
            route(.get, "/logs") { request in
                var question = LogRing.Question()
                question.since = try request.number("since", in: 0...UInt64.max) ?? 0
                question.level = try request.text("level").map { try Self.level($0) } ?? .trace
                question.subsystem = try request.text("subsystem").map { try Self.subsystem($0).rawValue }
                question.search = request.text("search")
                question.limit = try request.number("limit", in: 1...LogRing.limit) ?? LogRing.limit
                return try watch.logs.lines(question)
            },
            route(.get, "/log-level") { _ in try watch.logs.levels },
            route(.put, "/log-level", body: .json()) { request in
                let form: LevelForm = try request.form()
                let watch = try watch
                switch (form.level, try form.subsystem.map { try Self.subsystem($0) }) {
                case (let level?, let subsystem): watch.logs.set(level, in: subsystem)
                case (nil, let subsystem?): watch.logs.unset(subsystem)
                case (nil, nil): throw ConsoleRequest.badField("level", "can be left to the common one by a part alone")
                }
                watch.activity.tell(ActivityChanged(what: [.logLevel]))
                return watch.logs.levels
            },
            route(.put, "/settings/{key}", body: .json()) { request in
                try request.checkPlace("settings are changed at the device itself: open the console there")
                guard let setting = Setting(rawValue: request["key"]) else {
                    throw ConsoleFailure(404, "no-such-setting", "there is no setting \"\(request["key"])\"")
                }
                let form: SettingForm = try request.form()
                let watch = try watch
                let report = try await watch.settings.change(setting, to: form.values) { try await apply(setting, $0) }
                watch.activity.tell(ActivityChanged(what: [.settings, .logLevel]))
                return report
            },
            special(.get, "/activity") { request in
                let since: UInt64? = try request.number("since", in: 0...UInt64.max)
                let follows = request.text("follow").map { $0 != "0" && $0 != "false" } ?? true
                let stream = try watch.activity.lines(boot: request.text("boot"), since: since, follows: follows)
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
            let (common, own) = try Settings.levels(texts[0])
            let watch = try watch
            watch.logs.set(common, in: nil)
            for (subsystem, level) in own { watch.logs.set(level, in: subsystem) }
        default: break
        }
    }

    private static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            let all = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConsoleRequest.badField("level", "must be one of \(all)")
        }
        return level
    }

    private static func subsystem(_ text: String) throws -> LogSubsystem {
        guard let subsystem = LogSubsystem(rawValue: text) else {
            let all = LogSubsystem.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConsoleRequest.badField("subsystem", "must be one of \(all)")
        }
        return subsystem
    }
}

// The console on other screens of the local network.
extension NodeAPI {
    private struct LanForm: Decodable {
        let on: Bool
        let port: UInt16?
    }

    private struct Lan: Encodable {
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

    var lanRoutes: [ConsoleRoute] {
        [
            route(.get, "/lan") { request in try lanView(request) },
            route(.put, "/lan", body: .json(), changes: [.settings]) { request in
                try request.checkPlace("who may open the console is decided at the device itself: open it there")
                let form: LanForm = try request.form()
                if form.port == 0 { throw ConsoleRequest.badField("port", "must be a number from 1 to 65535") }
                let lan = try lan()
                try await lan.change(to: form.on ? form.port ?? lan.usualPort : nil)
                return try lanView(request)
            },
            course(.post, "/lan/pairing", body: .json()) { request in
                try request.checkPlace("a device is paired at the device itself: open the console there")
                let form: PairingForm = try request.form()
                return { tell in try await handler.pairConsole(at: form.address, tell) }
            },
        ]
    }

    private func lan() throws(ConsoleFailure) -> ConsoleLan {
        guard let console = handler.console else {
            throw ConsoleFailure(503, "no-console", "this node has no console of its own")
        }
        return console.lan
    }

    private func lanView(_ request: ConsoleRequest) throws -> Lan {
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

extension ConsoleRequest {
    /// Refuses what is done at the device itself only.
    ///
    /// - Throws: ``ConsoleFailure`` over the local network.
    func checkPlace(_ advice: String) throws(ConsoleFailure) {
        guard origin != .network else { throw ConsoleFailure(403, "only-here", advice) }
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
    /// Whether a browser has signed in by it; else its time is over.
    let used: Bool

    package var lines: [String] {
        [used ? "paired" : "nobody came within a minute: run the command again for a new code"]
    }
}
