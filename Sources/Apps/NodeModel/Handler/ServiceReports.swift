internal import Bytes
internal import CommandModel
package import Foundation
internal import Identity
package import RunarNode

/// Which services there are.
package struct ServicesReport: HintingReport {
    /// A service and its provider.
    struct Offer: Codable, Sendable {
        let peerId: String
        /// The label that this device's person gave to the peer; nil for this device.
        let label: String?
        let isOwn: Bool
        let service: RunarServiceInfo
    }

    let services: [Offer]
    /// Peers that did not list their offers in time.
    let silent: [String]

    package var lines: [String] {
        var lines = services.flatMap { offer -> [String] in
            let provider = offer.isOwn ? "this device" : offer.label ?? PeerId.typed(offer.peerId)
            let service = offer.service
            // A service without a name of its own has its path as the name.
            let kind = service.name == service.servicePath ? service.version : "\(service.name) \(service.version)"
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

/// The answer of a service.
package struct CalledReport: Report {
    let path: String
    /// The answer, if it is JSON.
    package let result: RunarValue?
    /// The answer in base64, if it is not.
    let base64: String?
    /// The raw answer.
    package let text: String?

    init(path: String, answer: Data) {
        self.path = path
        // No JSON, or too deep: text or base64.
        result = answer.isEmpty ? nil : try? PayloadEncoding.json.decode(RunarValue.self, from: answer)  // see above
        text = String(utf8: answer)
        base64 = result == nil && !answer.isEmpty ? answer.base64EncodedString() : nil
    }

    package var lines: [String] { [text ?? base64 ?? ""] }
}

/// The report that a service is offered from now on.
package struct ServingReport: Codable, Hashable, Sendable {
    var event = "serving"
    let path: String
    let networkId: String
    let networkName: String
    let actions: [String]

    package var line: String {
        "offering \(actions.map { "\(path)/\($0)" }.joined(separator: ", ")) in \(networkName); Control-C ends it"
    }
}

/// A request that arrived.
package struct CallReport: Codable, Hashable, Sendable {
    var event = "called"
    /// The number that the answer refers to.
    package let number: Int
    /// The name of the action.
    package let action: String
    /// The whole path.
    package let path: String
    /// The caller; nil for this device.
    package let peerId: String?
    package let payload: Data
}
