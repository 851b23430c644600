internal import Bytes
package import Identity

extension Reach {
    /// A message between two members about reaching a third; the layout is in `docs/spec/traversal.md`.
    ///
    /// A message travels in a frame that names the network, on a connection on which both are admitted.
    package enum Message: Hashable, Sendable {
        /// The source address of the receiver's datagrams.
        case observed(SocketAddress)
        /// From the caller: an offer to the target.
        case offer(SessionId, target: PeerId, SessionKey, Offer)
        /// To the callee: the caller wants a connection.
        case forwardedOffer(SessionId, from: PeerId, SessionKey, Offer, Introduction)
        /// From the callee: its consent, with its addresses.
        case answer(SessionId, Offer)
        /// From the callee: its refusal, with the reason.
        case decline(SessionId, Refusal)
        /// To the caller: the callee's answer, with the introduction.
        case forwardedAnswer(SessionId, Offer, Introduction)
        /// To the caller: the session failed.
        case failed(SessionId, Refusal)
        /// The session, or its channel, has ended; the coordinator notifies the other side.
        case cancel(SessionId)
        /// To a member: let a connected peer that is none of these probe this node.
        case filteringRequest(SessionId, SessionKey, known: [PeerId])
        /// To a peer unknown to the requester: send a probe to this address.
        case probeRequest(SessionId, SessionKey, SocketAddress)
        /// To the requester: this one sends it, or there is none.
        case filteringReply(SessionId, by: PeerId?)

        /// The most peers in one `filteringRequest`.
        package static let knownLimit = 64

        /// The session that bytes announce, if they are a `forwardedOffer`.
        package static func forwardedOffer(in bytes: [UInt8]) -> (id: SessionId, caller: PeerId)? {
            guard bytes.first == Kind.forwardedOffer.rawValue,
                case .forwardedOffer(let id, let caller, _, _, _)? = try? Message(bytes)  // nil: reported elsewhere
            else { return nil }
            return (id, caller)
        }
    }

    /// The addresses at which a side of a session might be found, by its own account.
    package struct Offer: Hashable, Sendable {
        /// The most addresses in one.
        package static let limit = 16

        package var mapping: MappingBehaviour
        /// The most promising first.
        package var addresses: [SocketAddress]

        package init(mapping: MappingBehaviour, addresses: [SocketAddress]) {
            self.mapping = mapping
            self.addresses = addresses
        }
    }

    /// The coordinator's view of one side, for the other.
    package struct Introduction: Hashable, Sendable {
        /// The address at which it sees that side; nil if that is only through a relay.
        package var observed: SocketAddress?
        /// The receiver's end of a channel to that side.
        package var channel: ChannelId?

        package init(observed: SocketAddress?, channel: ChannelId?) {
            self.observed = observed
            self.channel = channel
        }
    }

    /// The reason for which a session failed.
    package enum Refusal: UInt8, Hashable, Sendable {
        /// The target is not connected to the coordinator.
        case notConnected = 1
        /// The target sent an offer at the same time, which takes precedence.
        case busy = 2
        /// There are too many sessions.
        case refused = 3
    }
}

/// Why a message of ``Reach`` cannot be read.
package struct ReachMessageError: Error, Hashable, CustomStringConvertible {
    package let description: String
}

// The wire form of messages: a kind, then the body.
extension Reach.Message {
    private enum Kind: UInt8 {
        case observed = 1
        case offer = 2
        case forwardedOffer = 3
        case answer = 4
        case decline = 5
        case forwardedAnswer = 6
        case failed = 7
        case cancel = 8
        case filteringRequest = 9
        case probeRequest = 10
        case filteringReply = 11
    }

    /// The binary form.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 128)
        switch self {
        case .observed(let address):
            writer.write(Kind.observed.rawValue)
            address.write(to: &writer)
        case .offer(let id, let target, let key, let offer):
            Self.write(.offer, id, to: &writer)
            writer.write(target.bytes)
            writer.write(key.bytes)
            offer.write(to: &writer)
        case .forwardedOffer(let id, let caller, let key, let offer, let introduction):
            Self.write(.forwardedOffer, id, to: &writer)
            writer.write(caller.bytes)
            writer.write(key.bytes)
            offer.write(to: &writer)
            introduction.write(to: &writer)
        case .answer(let id, let offer):
            Self.write(.answer, id, to: &writer)
            offer.write(to: &writer)
        case .decline(let id, let refusal):
            Self.write(.decline, id, to: &writer)
            writer.write(refusal.rawValue)
        case .forwardedAnswer(let id, let offer, let introduction):
            Self.write(.forwardedAnswer, id, to: &writer)
            offer.write(to: &writer)
            introduction.write(to: &writer)
        case .failed(let id, let refusal):
            Self.write(.failed, id, to: &writer)
            writer.write(refusal.rawValue)
        case .cancel(let id): Self.write(.cancel, id, to: &writer)
        case .filteringRequest(let id, let key, let known):
            Self.write(.filteringRequest, id, to: &writer)
            writer.write(key.bytes)
            writer.write(UInt8(known.count))
            for peer in known { writer.write(peer.bytes) }
        case .probeRequest(let id, let key, let address):
            Self.write(.probeRequest, id, to: &writer)
            writer.write(key.bytes)
            address.write(to: &writer)
        case .filteringReply(let id, let peer):
            Self.write(.filteringReply, id, to: &writer)
            writer.write(UInt8(peer == nil ? 0 : 1))
            if let peer { writer.write(peer.bytes) }
        }
        return writer.bytes
    }

    private static func write(_ kind: Kind, _ id: SessionId, to writer: inout ByteWriter) {
        writer.write(kind.rawValue)
        writer.write(id.number)
    }

    /// Reads one message.
    package init(_ bytes: [UInt8]) throws(ReachMessageError) {
        do {
            var reader = ByteReader(bytes)
            let number = try reader.readUInt8()
            guard let kind = Kind(rawValue: number) else {
                throw ReachMessageError(description: "a message of the unknown kind \(number)")
            }
            self = try Self.read(kind, from: &reader)
            try reader.finish()
        } catch let error as ReachMessageError {
            throw error
        } catch {
            throw ReachMessageError(description: "\(error)")
        }
    }

    private static func read(_ kind: Kind, from reader: inout ByteReader) throws -> Self {
        guard kind != .observed else { return .observed(try SocketAddress(reading: &reader)) }
        let id = SessionId(number: try reader.readUInt64())
        switch kind {
        case .offer, .forwardedOffer:
            let peer = try Self.readPeer(from: &reader)
            guard let key = SessionKey(try reader.readSlice(count: SessionKey.byteCount)) else {
                throw ReachMessageError(description: "no key")
            }
            let offer = try Reach.Offer(reading: &reader)
            if kind == .offer { return .offer(id, target: peer, key, offer) }
            return .forwardedOffer(id, from: peer, key, offer, try Reach.Introduction(reading: &reader))
        case .answer: return .answer(id, try Reach.Offer(reading: &reader))
        case .forwardedAnswer:
            let offer = try Reach.Offer(reading: &reader)
            return .forwardedAnswer(id, offer, try Reach.Introduction(reading: &reader))
        case .decline, .failed:
            let number = try reader.readUInt8()
            guard let refusal = Reach.Refusal(rawValue: number) else {
                throw ReachMessageError(description: "a call refused for the unknown reason \(number)")
            }
            return kind == .decline ? .decline(id, refusal) : .failed(id, refusal)
        case .filteringRequest, .probeRequest, .filteringReply:
            return try Self.readFilteringMessage(kind, id, from: &reader)
        case .cancel, .observed: return .cancel(id)
        }
    }

    private static func readFilteringMessage(_ kind: Kind, _ id: SessionId, from reader: inout ByteReader) throws
        -> Self
    {
        guard kind != .filteringReply else {
            let hasPeer = try Reach.Introduction.readFlag(from: &reader)
            return .filteringReply(id, by: hasPeer ? try Self.readPeer(from: &reader) : nil)
        }
        guard let key = SessionKey(try reader.readSlice(count: SessionKey.byteCount)) else {
            throw ReachMessageError(description: "no key")
        }
        guard kind == .filteringRequest else { return .probeRequest(id, key, try SocketAddress(reading: &reader)) }
        let count = try reader.readUInt8()
        guard count <= Self.knownLimit else { throw ReachMessageError(description: "\(count) known peers") }
        var known: [PeerId] = []
        for _ in 0..<count { known.append(try Self.readPeer(from: &reader)) }
        return .filteringRequest(id, key, known: known)
    }

    private static func readPeer(from reader: inout ByteReader) throws -> PeerId {
        try PeerId(rawRepresentation: reader.readSlice(count: PeerId.byteCount))
    }
}

extension Reach.Offer {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(mapping.rawValue)
        writer.write(UInt8(addresses.count))
        for address in addresses { address.write(to: &writer) }
    }

    fileprivate init(reading reader: inout ByteReader) throws {
        let number = try reader.readUInt8()
        guard let mapping = MappingBehaviour(rawValue: number) else {
            throw ReachMessageError(description: "an unknown mapping behaviour \(number)")
        }
        let count = try reader.readUInt8()
        guard count <= Self.limit else { throw ReachMessageError(description: "\(count) addresses") }
        var addresses: [SocketAddress] = []
        for _ in 0..<count { addresses.append(try SocketAddress(reading: &reader)) }
        self.init(mapping: mapping, addresses: addresses)
    }
}

extension Reach.Introduction {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(UInt8(observed == nil ? 0 : 1))
        observed?.write(to: &writer)
        writer.write(UInt8(channel == nil ? 0 : 1))
        if let channel { writer.write(channel.bytes) }
    }

    fileprivate init(reading reader: inout ByteReader) throws {
        let observed = try Self.readFlag(from: &reader) ? try SocketAddress(reading: &reader) : nil
        let channel = try Self.readFlag(from: &reader) ? try ChannelId(reading: &reader) : nil
        self.init(observed: observed, channel: channel)
    }

    fileprivate static func readFlag(from reader: inout ByteReader) throws -> Bool {
        let byte = try reader.readUInt8()
        guard byte <= 1 else { throw ReachMessageError(description: "\(byte) for yes or no") }
        return byte == 1
    }
}
