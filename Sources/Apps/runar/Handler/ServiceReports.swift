internal import Foundation
internal import Identity
internal import RunarNode

/// Which services there are.
struct ServicesReport: HintingReport {
    /// A service and who offers it.
    struct Offer: Codable, Sendable {
        let peerId: String
        /// What this device's person called the peer; "this device" has none.
        let label: String?
        let isOwn: Bool
        let service: RunarServiceInfo
    }

    let services: [Offer]
    /// Peers that did not say what they offer.
    let silent: [String]

    var lines: [String] {
        var lines = services.flatMap { offer -> [String] in
            let provider = offer.isOwn ? "this device" : offer.label ?? PeerId.typed(offer.peerId)
            let service = offer.service
            let kind = "\(service.name) \(service.version)"
            return ["\(service.servicePath)  \(provider)  \(service.state.rawValue)  \(kind)"]
                + service.actions.map { action in
                    let text = action.description.isEmpty ? "" : "  \(action.description)"
                    return "    \(service.servicePath)/\(action.name)\(text)"
                }
        }
        lines += silent.map { "! \(PeerId.typed($0)) did not say what it offers" }
        return lines.isEmpty ? ["no services: `runar serve` offers one"] : lines
    }
}

/// What a service answered.
struct CalledReport: Report {
    let path: String
    /// The answer, if it is JSON.
    let result: RunarValue?
    /// The answer in base64, if it is not.
    let base64: String?
    /// The answer as it came.
    let text: String?

    init(path: String, answer: Data) {
        self.path = path
        // No JSON, or too deep: text or base64.
        result = answer.isEmpty ? nil : try? PayloadEncoding.json.decode(RunarValue.self, from: answer)  // see above
        text = String(validating: answer, as: UTF8.self)
        base64 = result == nil && !answer.isEmpty ? answer.base64EncodedString() : nil
    }

    var lines: [String] { [text ?? base64 ?? ""] }
}

/// That a service is offered from now on.
struct ServingReport: Codable, Hashable, Sendable {
    var event = "serving"
    let path: String
    let networkId: String
    let networkName: String
    let actions: [String]

    var line: String {
        "offering \(actions.map { "\(path)/\($0)" }.joined(separator: ", ")) in \(networkName); Control-C ends it"
    }
}

/// A request that arrived.
struct CallReport: Codable, Hashable, Sendable {
    var event = "called"
    /// What the answer refers to.
    let number: Int
    /// The name of the action.
    let action: String
    /// The whole path.
    let path: String
    /// Who asks; nil for this device.
    let peerId: String?
    let payload: Data
}

/// How a request to an offered service went.
struct AnsweredReport: Codable, Sendable {
    var event = "answered"
    let path: String
    let peerId: String?
    let milliseconds: Int
    /// Why it failed; nil when it did not.
    let failure: String?

    var line: String {
        let caller = peerId.map { PeerId.typed($0) } ?? "this device"
        return "\(path)  \(caller)  \(failure ?? "answered") after \(milliseconds) ms"
    }
}
