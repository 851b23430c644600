internal import CommandModel
internal import Identity

/// The request of a new device.
package struct DeviceRequestReport: Report {
    var event = "deviceRequest"
    let peerId: String
    let peerIdText: String
    /// The code that both screens must show.
    package let code: String
    /// The request.
    package let link: String

    package var lines: [String] { [link] }
}

/// The answer to a new device.
package struct DeviceAnswerReport: Report {
    /// A network of the answer.
    struct Membership: Codable, Hashable, Sendable {
        let networkId: String
        let name: String
        /// Whether the device gets its signing key.
        let isAdmin: Bool
        /// The last second of the membership since 1970; nil for none.
        let expiration: UInt64?
    }

    /// The new device.
    let peerId: String
    let peerIdText: String
    let label: String?
    let networks: [Membership]
    /// The code that both screens must show.
    package let code: String
    /// The answer, for the new device.
    package let text: String

    /// In lines that a terminal takes when they are pasted.
    package var lines: [String] {
        let characters = Array(text)
        return stride(from: 0, to: characters.count, by: 76).map {
            String(characters[$0..<min($0 + 76, characters.count)])
        }
    }

    package var summary: String {
        let who = label.map { "\($0) (\(peerIdText.prefix(8)))" } ?? peerIdText
        guard !networks.isEmpty else { return "\(who) gets a certificate, and no network." }
        return "\(who) gets a certificate and becomes a member of \(networks.words)."
    }
}

/// The result of setting up a new device.
package struct DeviceSetUpReport: HintingReport {
    let peerId: String
    /// The device that answered.
    let sender: String
    let networks: [DeviceAnswerReport.Membership]
    /// As in the library: none, pending, valid, invalid.
    let certificateStatus: String

    package var lines: [String] {
        guard !networks.isEmpty else { return ["this device has your certificate, and no network yet"] }
        return ["this device has your certificate and is a member of \(networks.words)", "next      `runar up`"]
    }
}

extension [DeviceAnswerReport.Membership] {
    /// As people list them.
    fileprivate var words: String {
        map { membership in
            let end = membership.expiration.map { "until \(LocalTime(seconds: $0))" } ?? "without end"
            return "\(membership.name) (\(end)\(membership.isAdmin ? ", with its signing key" : ""))"
        }.joined(separator: ", ")
    }
}
