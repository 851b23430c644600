/// The identifier of a session: eight random bytes that the caller draws.
package struct SessionId: Hashable, Sendable {
    package static let byteCount = 8

    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// Sixteen bytes that only the two sides of a session and its coordinator know.
package struct SessionKey: Hashable, Sendable {
    package static let byteCount = 16

    let bytes: [UInt8]

    /// Takes 16 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = [UInt8](bytes)
    }
}

extension SessionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `SessionKey(redacted)`.
    package var description: String { "SessionKey(redacted)" }

    /// Always `SessionKey(redacted)`.
    package var debugDescription: String { "SessionKey(redacted)" }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The secret that both ends derive from their connection, and by which they recognise each other after a path is lost.
package struct PathKey: Hashable, Sendable {
    /// The bytes of keying material that a path key takes.
    package static let byteCount = SessionId.byteCount + SessionKey.byteCount

    package let id: SessionId
    package let key: SessionKey

    /// Takes 24 bytes of the connection's keying material.
    package init?(_ material: some Collection<UInt8>) {
        guard material.count == Self.byteCount, let key = SessionKey(material.dropFirst(SessionId.byteCount)) else {
            return nil
        }
        self.init(SessionId(number: material.prefix(SessionId.byteCount).reduce(0) { $0 << 8 | UInt64($1) }), key)
    }

    init(_ id: SessionId, _ key: SessionKey) {
        self.id = id
        self.key = key
    }
}

/// The way in which a node's NAT chooses the outer port, in the words of RFC 4787, section 4.1.
package enum MappingBehaviour: UInt8, Hashable, Sendable {
    /// Too few peers have reported this node's address.
    case unknown = 0
    /// The outer port is the same for every destination, or there is no NAT.
    case endpointIndependent = 1
    /// The outer port differs by destination.
    case endpointDependent = 2
}

/// Why a session failed.
package enum ReachFailure: Hashable, Sendable {
    /// There is no coordinator.
    case nobodyToAsk
    /// No coordinator is connected to the target, or none answered.
    case notConnected
    /// The peer sent an offer at the same time.
    case busy
    /// A peer has too many sessions.
    case refused
    /// The peer answered, but no direct path works and no member relays.
    case unreachable

    /// The failure in words, after a colon or a semicolon.
    package var explanation: String {
        switch self {
        case .nobodyToAsk: "no other member that could help is connected"
        case .notConnected: "no connected member reaches it either"
        case .busy: "it is dialling this device itself"
        case .refused: "the members that could help are busy"
        case .unreachable: "no direct path was found, and no member relays"
        }
    }
}
