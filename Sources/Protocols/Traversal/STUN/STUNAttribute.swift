package import Identity

/// The content of a STUN message, apart from its integrity and fingerprint.
package enum STUNAttribute: Hashable, Sendable {
    /// MAPPED-ADDRESS, which routers that rewrite addresses in payloads spoil.
    case mappedAddress(SocketAddress)
    /// XOR-MAPPED-ADDRESS: the source of the request.
    case xorMappedAddress(SocketAddress)
    /// USERNAME.
    case username([UInt8])
    /// ERROR-CODE.
    case errorCode(STUNErrorCode)
    /// UNKNOWN-ATTRIBUTES: the comprehension-required attributes that the server did not understand.
    case unknownAttributes([UInt16])
    /// SOFTWARE.
    case software(String)
    /// CHANGE-REQUEST (RFC 5780): the address and port from which to send the response.
    case changeRequest(STUNChange)
    /// RESPONSE-ORIGIN (RFC 5780): the source of the response.
    case responseOrigin(SocketAddress)
    /// OTHER-ADDRESS (RFC 5780): the server's other address and port.
    case otherAddress(SocketAddress)
    /// Any other attribute.
    case other(type: UInt16, [UInt8])

    /// The first optional type: a receiver that does not know an attribute below it must not answer as if it were not
    /// there.
    static let firstOptionalType: UInt16 = 0x8000

    /// Attributes that are known and have no effect, because no server here requires a name and responses are only sent to
    /// the source of their request: REALM, NONCE, RESPONSE-PORT.
    static let understoodTypes: [UInt16] = [0x0014, 0x0015, 0x0027]
}

/// Why a request was refused.
package struct STUNErrorCode: Hashable, Sendable {
    /// 300 to 699.
    package let code: UInt16
    /// For people, in the words of the server.
    package let reason: String

    /// Nil unless the code is from 300 to 699.
    package init?(code: UInt16, reason: String) {
        guard (300...699).contains(code) else { return nil }
        self.code = code
        self.reason = reason
    }

    private init(known code: UInt16, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The request has a comprehension-required attribute that is not understood.
    static let unknownAttribute = STUNErrorCode(known: 420, "Unknown Attribute")
}

/// The changes to the source address of a response.
package struct STUNChange: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let port = STUNChange(rawValue: 0x2)
    package static let address = STUNChange(rawValue: 0x4)
}

/// Why bytes are no STUN message, or none to be believed.
package enum STUNError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not the header of RFC 8489: something else, or STUN of 2003.
    case notSTUN
    /// More than a datagram may carry.
    case tooLong(byteCount: Int)
    /// Lengths or values that no sender writes that follows the standard.
    case malformed(String)
    /// The checksum does not fit: something else that looks like STUN, or damaged.
    case wrongFingerprint

    package var description: String {
        switch self {
        case .notSTUN: "not a STUN message"
        case .tooLong(let count): "a STUN message of \(count) bytes; at most \(STUNPacket.byteLimit) are read"
        case .malformed(let what): "a malformed STUN message: \(what)"
        case .wrongFingerprint: "a STUN message with a wrong fingerprint"
        }
    }
}
