internal import Identity

/// The signing and numbering of this node's own events.
struct EventPublisher: Sendable {
    /// The stream of this process.
    let stream: StreamId
    private let signer: any Signer
    /// This node's own token; nothing is published without one.
    var token: AccessToken?
    /// The number of the next event.
    private var nextNumber: UInt64 = 1

    init(_ configuration: PubSub.Configuration) {
        stream = StreamId(publisher: configuration.localPeerId, instance: configuration.instance)
        signer = configuration.signer
    }

    /// Returns the next batch; nil, and no number is used, if it cannot be signed.
    mutating func makeBatch(topic: String, content: [UInt8], count: Int, at nowSeconds: UInt64) -> EventBatch? {
        guard let token,
            let batch = EventBatch.create(
                topic: topic,
                content: content,
                count: count,
                first: nextNumber,
                instance: stream.instance,
                publishedSeconds: nowSeconds,
                token: token,
                signer: signer
            )
        else { return nil }
        nextNumber = batch.end
        return batch
    }
}
