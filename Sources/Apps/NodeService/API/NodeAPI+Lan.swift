internal import Console
internal import Platform

// The console on other screens of the local network.
extension NodeAPI {
    private struct LanForm: Decodable {
        let on: Bool
        let port: UInt16?
    }

    private struct Lan: Encodable {
        let on: Bool
        /// Where it is, or where it would be.
        let port: UInt16
        package let addresses: [String]
        package let fingerprint: String?
        /// The last second of the certificate since 1970.
        let expires: UInt64?
        package let source: Settings.Source
        /// Whether whoever asks may change it: at the device itself.
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
    package let address: String
    /// Of the certificate that the browser asks about.
    package let fingerprint: String
    /// The last second of the link since 1970.
    let expires: UInt64
}

/// What became of a link.
package struct PairingEnd: Report {
    /// Whether a browser has signed in by it; else its time is over.
    let used: Bool

    package var lines: [String] {
        [used ? "paired" : "nobody came within a minute: run the command again for a new code"]
    }
}
