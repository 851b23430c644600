internal import Concurrency
internal import Essentials
internal import Node
internal import Services

/// The values of a request of another device; bytes of no length at all are no value.
final class IncomingSource: ItemSource {
    private let incoming: IncomingRequest
    private let encoding: PayloadEncoding

    init(_ incoming: IncomingRequest, _ encoding: PayloadEncoding) {
        self.incoming = incoming
        self.encoding = encoding
    }

    func next() async throws -> StreamItem? {
        guard let bytes = try await incoming.nextItem(isHandled: true), !bytes.isEmpty else { return nil }
        return StreamItem(bytes: Data(bytes), encoding: encoding)
    }
}

/// Takes the values of an answer to another device; the answer begins with the first of them.
final class IncomingSink: ItemSink {
    private let incoming: IncomingRequest
    private let type: ContentType
    private let hasBegun = Locked(false)
    /// Tasks of one handler may send at the same time.
    private let line = AsyncMutex()

    init(_ incoming: IncomingRequest, _ type: ContentType) {
        self.incoming = incoming
        self.type = type
    }

    func send(_ bytes: Data) async throws {
        try await line.withLock {
            try await begin()
            try await incoming.send(item: [UInt8](bytes))
        }
    }

    /// Ends the sequence.
    func finish() async throws {
        try await line.withLock {
            try await begin()
            try await incoming.finish()
        }
    }

    /// Called with the mutex held.
    private func begin() async throws {
        if hasBegun.withLock({ $0 }) { return }
        try await incoming.beginStreaming(type)
        hasBegun.withLock { $0 = true }
    }
}

/// The values of another device's answer, and the task that sends it the request's.
final class OutgoingSource: ItemSource {
    private let request: OutgoingRequest
    private let encoding: PayloadEncoding
    private let translate: @Sendable (any Error) -> any Error
    private let upload: Task<Void, Never>?

    init(
        _ request: OutgoingRequest,
        _ encoding: PayloadEncoding,
        upload: Task<Void, Never>?,
        translate: @escaping @Sendable (any Error) -> any Error
    ) {
        self.request = request
        self.encoding = encoding
        self.upload = upload
        self.translate = translate
    }

    deinit {
        upload?.cancel()
    }

    func next() async throws -> StreamItem? {
        do {
            let type = try await request.response()
            guard let bytes = try await request.nextItem() else { return nil }
            return StreamItem(bytes: Data(bytes), encoding: type.encoding ?? encoding)
        } catch {
            throw translate(error)
        }
    }
}

/// The values of a handler of this device, which is cancelled when this source is released.
final class LocalSource: ItemSource {
    private let channel: ItemChannel
    private let tasks: [Task<Void, Never>]

    init(_ channel: ItemChannel, _ tasks: [Task<Void, Never>]) {
        self.channel = channel
        self.tasks = tasks
    }

    deinit {
        channel.abandon()
        for task in tasks { task.cancel() }
    }

    func next() async throws -> StreamItem? { try await channel.next() }
}
