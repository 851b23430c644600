internal import Bytes
package import Identity

/// A message of STUN (RFC 8489): a request for the observed address, and its response.
///
/// ``STUNPacket`` encodes messages, and checks everything that arrives.
package struct STUNMessage: Hashable, Sendable {
    /// The role of a message in its transaction.
    package enum Class: UInt8, Hashable, Sendable {
        case request = 0
        case indication = 1
        case success = 2
        case failure = 3
    }

    /// The method of every message that is spoken here (RFC 8489, section 18.2).
    package static let binding: UInt16 = 1

    package var kind: Class
    /// 12 bits.
    package var method: UInt16
    package var transaction: STUNTransactionId
    /// All but the last ones, which ``STUNPacket`` makes and checks: integrity and fingerprint.
    package var attributes: [STUNAttribute]

    package init(
        _ kind: Class,
        method: UInt16 = binding,
        transaction: STUNTransactionId,
        attributes: [STUNAttribute] = []
    ) {
        precondition(method < 1 << 12, "a method has 12 bits, not \(method)")
        self.kind = kind
        self.method = method
        self.transaction = transaction
        self.attributes = attributes
    }
}

// A message may repeat an attribute; the first one counts (RFC 8489, section 14).
extension STUNMessage {
    /// The source of the request as the response states it; MAPPED-ADDRESS of RFC 3489 is used if there is no
    /// XOR-MAPPED-ADDRESS.
    package var mappedAddress: SocketAddress? {
        var plain: SocketAddress?
        for attribute in attributes {
            if case .xorMappedAddress(let address) = attribute { return address }
            if case .mappedAddress(let address) = attribute { plain = plain ?? address }
        }
        return plain
    }

    /// The sender's name for a receiver that shares a key with it.
    package var username: [UInt8]? {
        first { if case .username(let name) = $0 { name } else { nil } }
    }

    /// Why a request was refused.
    package var failure: STUNErrorCode? {
        first { if case .errorCode(let code) = $0 { code } else { nil } }
    }

    /// The server's other address and other port (RFC 5780).
    package var otherAddress: SocketAddress? {
        first { if case .otherAddress(let address) = $0 { address } else { nil } }
    }

    /// The change of source that a request asks for (RFC 5780); empty without CHANGE-REQUEST.
    package var change: STUNChange {
        first { if case .changeRequest(let change) = $0 { change } else { nil } } ?? []
    }

    /// The comprehension-required attributes that are unknown.
    package var unknownAttributes: [UInt16] {
        attributes.compactMap { attribute in
            guard case .other(let type, _) = attribute, type < STUNAttribute.firstOptionalType,
                !STUNAttribute.understoodTypes.contains(type)
            else { return nil }
            return type
        }
    }

    private func first<Value>(_ value: (STUNAttribute) -> Value?) -> Value? {
        for attribute in attributes {
            if let found = value(attribute) { return found }
        }
        return nil
    }
}

/// The id of a transaction: 96 bits that an attacker cannot guess.
package struct STUNTransactionId: Hashable, Sendable {
    package static let byteCount = 12
    package let bytes: [UInt8]

    /// Nil unless there are ``byteCount`` bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Draws an id; `random` must be the system's generator, since an attacker that guesses the id can forge an answer.
    package init(using random: inout some RandomNumberGenerator) {
        bytes = (0..<Self.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}
