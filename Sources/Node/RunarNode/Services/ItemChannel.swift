internal import Concurrency
internal import Essentials

/// Values between two tasks of this process: one sends and waits for room, one reads.
final class ItemChannel: ItemSource, ItemSink, Sendable {
    /// A task that sends more waits.
    private static let capacity = 16

    private let items = BoundedChannel<Data>(limit: ItemChannel.capacity)
    /// The regular end or the failure; set before ``items`` is finished.
    private let end = Promise<Result<Void, any Error>>()
    private let encoding: PayloadEncoding

    init(_ encoding: PayloadEncoding) {
        self.encoding = encoding
    }

    /// Adds a value as soon as there is room.
    func send(_ bytes: Data) async throws {
        guard try await items.send(bytes) else {
            throw Self.abandonment
        }
    }

    /// The next value, as soon as there is one; nil after the last one.
    func next() async throws -> StreamItem? {
        if let bytes = try await items.next() { return StreamItem(bytes: bytes, encoding: encoding) }
        try end.value?.get()
        return nil
    }

    /// Ends the sequence, after its last item or with a failure.
    func finish(_ end: Result<Void, any Error> = .success(())) {
        self.end.fulfil(end)
        items.finish(discarding: false)
    }

    /// Discards the items, so that neither the sender nor the reader takes the sequence for complete.
    func abandon() {
        end.fulfil(.failure(Self.abandonment))
        items.finish(discarding: true)
    }

    private static var abandonment: RunarError { .failure(.cancelled, message: "the reader has ended") }
}
