internal import Crypto
package import Identity

/// Events that one member published to one topic, one after another, under one signature.
///
/// A publisher numbers its events from 1 at every start of its process, and the numbers of a batch follow each other.
/// The batch contains the publisher's membership, so a receiver that gets it from a relay verifies it without a query.
/// Layout and signed bytes: `docs/spec/events.md`.
package struct EventBatch: Hashable, Sendable {
    /// The most bytes that the events of one batch have together, their lengths included.
    package static let contentByteLimit = 512 * 1024
    /// The longest event, in bytes.
    package static let eventByteLimit = 256 * 1024
    /// The most events in a batch.
    package static let eventLimit = 16 * 1024
    /// The longest topic, in bytes.
    package static let topicByteLimit = 512
    /// The domain label of the publisher's signature.
    package static let label = DomainLabel("runar/event-batch/v1")

    package let stream: StreamId
    package let publisherKey: Ed25519PublicKey
    package let membership: MembershipProof
    /// The number of the first event.
    package let first: UInt64
    /// The number of events.
    package let count: Int
    /// The time of publication, by the publisher's clock, in seconds since 1970.
    package let publishedSeconds: UInt64
    package let topic: String
    /// Each event as its length (a varint of RFC 9000, section 16) and its bytes.
    package let content: [UInt8]
    package let signature: Ed25519Signature

    /// The number after that of the last event.
    package var end: UInt64 { first + UInt64(count) }

    /// Signs events of the member that `token` names; nil when the signer fails or is not that member's.
    package static func create(
        topic: String,
        content: [UInt8],
        count: Int,
        first: UInt64,
        instance: InstanceId,
        publishedSeconds: UInt64,
        token: AccessToken,
        signer: any Signer
    ) -> EventBatch? {
        let key = signer.publicKey
        let stream = StreamId(publisher: token.peerId, instance: instance)
        let message = signedBytes(
            in: token.networkId,
            stream: stream,
            first: first,
            count: count,
            publishedSeconds: publishedSeconds,
            topic: topic,
            content: content
        )
        guard PeerId(publicKey: key) == token.peerId,
            let bytes = try? signer.sign(message),  // nil means that signing failed
            let signature = Ed25519Signature(bytes)
        else { return nil }
        return EventBatch(
            stream: stream,
            publisherKey: key,
            membership: MembershipProof(of: token),
            first: first,
            count: count,
            publishedSeconds: publishedSeconds,
            topic: topic,
            content: content,
            signature: signature
        )
    }

    /// The bytes that the publisher's signature covers.
    package func signedBytes(in network: NetworkId) -> [UInt8] {
        Self.signedBytes(
            in: network,
            stream: stream,
            first: first,
            count: count,
            publishedSeconds: publishedSeconds,
            topic: topic,
            content: content
        )
    }
}

/// One publisher's events between two starts of its process.
package struct StreamId: Hashable, Sendable, Comparable {
    package let publisher: PeerId
    package let instance: InstanceId

    package init(publisher: PeerId, instance: InstanceId) {
        self.publisher = publisher
        self.instance = instance
    }

    package static func < (left: StreamId, right: StreamId) -> Bool {
        left.publisher == right.publisher ? left.instance < right.instance : left.publisher < right.publisher
    }
}
