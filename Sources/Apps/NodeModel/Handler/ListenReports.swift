internal import Bytes
internal import CommandModel
internal import Foundation
internal import Identity
package import Node
internal import SealedMessages

/// The report that messages are received from now on.
package struct ListeningReport: Codable, Hashable, Sendable {
    var event = "listening"
    let peerId: String
    let addresses: [String]

    package var line: String { "listening as \(PeerId.typed(peerId)); Control-C ends it" }
}

/// A message that arrived.
package struct MessageReport: Codable, Hashable, Sendable {
    var event = "message"
    let peerId: String
    /// The message, if it is a text.
    let text: String?
    /// Its bytes in base64, if it is none.
    let base64: String?
    let bytes: Int
    /// Whether it was sealed to a one-time key, which is erased now.
    var sealed = false

    init(sealed delivery: SealedDelivery) {
        peerId = delivery.peer.base64Encoded
        bytes = delivery.message.count
        text = String(utf8: delivery.message)
        base64 = text == nil ? Base64.encode(delivery.message) : nil
        sealed = true
    }

    init(peer: PeerId, payload: [UInt8]) {
        peerId = peer.base64Encoded
        bytes = payload.count
        // Messages of other programs may be of any type; they are shown as bytes.
        text = try? Bincode.deserialize(String.self, from: payload, limit: max(payload.count, 8))  // no text: base64
        base64 = text == nil ? Base64.encode(payload) : nil
    }

    package var line: String {
        "\(PeerId.typed(peerId))\(sealed ? " (sealed)" : ""): \(ContentText.shown(text, base64, bytes: bytes))"
    }
}

/// A file that a peer wants to send.
package struct FileOfferReport: Codable, Hashable, Sendable {
    var event = "fileOffered"
    /// The number that the answer refers to.
    package let number: Int
    package let peerId: String
    let networkId: String
    package let name: String
    package let bytes: UInt64
    /// The time that the person has for the answer.
    package let answerSeconds: Int

    /// The time that a sender expects to wait for the answer.
    package static let patience = FileRefusal.answerPatience
}

/// An offer that ended without an answer of the person.
package struct OfferEndedReport: Codable, Hashable, Sendable {
    var event = "offerEnded"
    package let number: Int
    /// Whether the sender withdrew it; otherwise the time for the answer has passed.
    package let isWithdrawn: Bool
}

/// A file that is whole and checked.
package struct FileArrivedReport: Codable, Hashable, Sendable {
    var event = "file"
    let peerId: String
    let name: String
    let bytes: UInt64
    let path: String

    package var line: String {
        "\(PeerId.typed(peerId)): sent \(name), \(ByteCountText.text(of: Double(bytes))), now at \(path)"
    }
}

/// An accepted file that could not be stored here.
package struct FileFailedReport: Codable, Hashable, Sendable {
    var event = "fileFailed"
    let peerId: String
    let name: String
    let bytes: UInt64
    /// The code that the sender receives.
    let code: String
    let reason: String

    init(_ failure: FileFailure) {
        peerId = failure.offer.peer.base64Encoded
        name = failure.offer.name
        bytes = failure.offer.byteCount
        code = CommandFailure(NodeError.fileRefused(failure.offer.peer, failure.refusal)).code
        reason = failure.reason
    }

    package var line: String {
        let size = ByteCountText.text(of: Double(bytes))
        return "! \(PeerId.typed(peerId)): \(name), \(size), was not stored: \(reason)"
    }
}

/// Something that happened to the node.
package struct EventReport: Codable, Hashable, Sendable {
    let event: String
    var peerId: String?
    var networkId: String?
    var reason: String?
    /// The addresses at which a member can be dialled.
    var addresses: [String]?
    /// Whether another member passes a peer's packets on.
    var relayed: Bool?

    package init(_ event: NodeEvent) {
        switch event {
        case .peerJoined(let peer, let network): self.init("peerJoined", peer, network)
        case .peerLeft(let peer, let network, let reason): self.init("peerLeft", peer, network, reason)
        case .refused(let peer, let network, let reason): self.init("refused", peer, network, reason)
        case .refusedByPeer(let peer, let network, let reason): self.init("refusedByPeer", peer, network, reason)
        case .revoked(let peer, let network): self.init("revoked", peer, network)
        case .membershipEnded(let network, let reason): self.init("membershipEnded", nil, network, reason)
        case .deviceKeyUsedTwice(let peer): self.init("deviceKeyUsedTwice", peer, nil)
        case .joinRequested(let request): self.init("joinRequested", request.peer, request.network, request.digits)
        case .joinPending(let peer, let network, let digits): self.init("joinPending", peer, network, digits)
        case .joinGranted(let metadata): self.init("joinGranted", nil, metadata.networkId, metadata.name)
        case .joinFailed(let peer, let network, let reason): self.init("joinFailed", peer, network, "\(reason)")
        case .joinRequestEnded(let peer, let network, let reason):
            self.init("joinRequestEnded", peer, network, "\(reason)")
        case .invitationEnded(_, let network, let reason): self.init("invitationEnded", nil, network, "\(reason)")
        case .clockBehind(let network, let seconds):
            self.init(
                "clockBehind",
                nil,
                network,
                "this clock is \(seconds) s behind what the network has signed: set it"
            )
        case .peerDiscovered(let peer, let network, let addresses):
            self.init("peerDiscovered", peer, network)
            self.addresses = addresses.map(\.description)
        case .peerLost(let peer, let network): self.init("peerLost", peer, network)
        case .tokenRenewed(let network, let seconds):
            let end = seconds.map { "until \(LocalTime(seconds: $0))" } ?? "without end"
            self.init("tokenRenewed", nil, network, end)
        case .tokenExpiring(let network, let seconds):
            let rest = DurationText.text(of: .seconds(seconds))
            let advice = "the owner's device renews it when both are online"
            self.init("tokenExpiring", nil, network, "\(rest) are left: \(advice)")
        case .pathChanged(let peer, let path):
            self.init("pathChanged", peer, nil, "\(path)")
            relayed = path.isRelayed
            addresses = path.address.map { [$0.description] }
        case .servicesChanged(let peer, let network): self.init("servicesChanged", peer, network)
        case .eventsIsolated(let network, let isIsolated):
            self.init(isIsolated ? "eventsIsolated" : "eventsConnected", nil, network)
        }
    }

    private init(_ event: String, _ peer: PeerId?, _ network: NetworkId?, _ reason: String? = nil) {
        self.event = event
        peerId = peer?.base64Encoded
        networkId = network?.base64Encoded
        self.reason = reason
    }

    package var line: String {
        let peer = peerId.map { PeerId.typed($0) } ?? "?"
        let network = networkId.map { NetworkId($0)?.text ?? $0 } ?? "?"
        let why = reason.map { ": \($0)" } ?? ""
        switch event {
        case "peerJoined": return "+ \(peer) is connected"
        case "pathChanged": return "~ \(peer) is reached over another path now\(why)"
        case "peerLeft": return "- \(peer) is gone\(why)"
        case "refused": return "! refused \(peer)\(why)"
        case "refusedByPeer": return "! \(peer) refuses this node\(why)"
        case "revoked": return "! \(peer) was revoked by the owner of network \(network)"
        case "membershipEnded": return "! the membership in network \(network) ended\(why)"
        case "deviceKeyUsedTwice": return "! the key of \(peer) is used in two places: one of them is a copy"
        case "clockBehind": return "! \(reason ?? "this clock is behind")"
        case "peerDiscovered": return "* \(peer) is nearby, at \((addresses ?? []).joined(separator: ", "))"
        case "peerLost": return "* \(peer) is no longer nearby"
        case "tokenRenewed": return "the token of network \(network) was renewed, \(reason ?? "")"
        case "tokenExpiring": return "! the token of network \(network) is about to end\(why)"
        case "servicesChanged": return "~ \(peer) offers other services in network \(network)"
        case "eventsIsolated": return "! no member is connected to exchange events of network \(network)"
        case "eventsConnected": return "+ events of network \(network) are exchanged again"
        default: return "\(event) \(peer)\(why)"
        }
    }
}

extension PeerId {
    /// The id of a report in the one form that people see.
    package static func typed(_ base64: String) -> String { PeerId(base64)?.text ?? base64 }
}
