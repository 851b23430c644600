internal import Locking

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Values between two tasks of this process: one sends and waits for room, one reads.
final class ItemChannel: ItemSource, ItemSink, Sendable {
    fileprivate enum Side: Hashable, Sendable {
        case reader, sender
    }

    fileprivate struct State: Sendable {
        var items: [Data] = []
        /// Nil as long as there may be more.
        var end: Result<Void, any Error>?
        /// Who waits, one of each side at most.
        var waiters: [Side: CheckedContinuation<Void, Never>] = [:]
        /// Nobody reads any more.
        var isAbandoned = false
    }

    /// Whoever sends more waits.
    private static let capacity = 16

    private let state = Locked(State())
    private let encoding: PayloadEncoding

    init(_ encoding: PayloadEncoding) {
        self.encoding = encoding
    }

    /// Adds a value as soon as there is room.
    func send(_ bytes: Data) async throws {
        while true {
            try Task.checkCancellation()
            let (isDone, reader) = try self.state.withLock { state in
                guard !state.isAbandoned, state.end == nil else {
                    throw RunarError.failure(.cancelled, message: "nobody reads any more")
                }
                guard state.items.count < Self.capacity else {
                    return (false, state.waiters.removeValue(forKey: .reader))
                }
                state.items.append(bytes)
                return (true, state.waiters.removeValue(forKey: .reader))
            }
            reader?.resume()
            if isDone { return }
            await self.wait(.sender) { $0.items.count >= Self.capacity && !$0.isAbandoned }
        }
    }

    /// The next value, as soon as there is one; nil after the last one.
    func next() async throws -> StreamItem? {
        while true {
            try Task.checkCancellation()
            let (item, end, sender) = self.state.withLock { state in
                let item = state.items.isEmpty ? nil : state.items.removeFirst()
                return (item, state.end, state.waiters.removeValue(forKey: .sender))
            }
            sender?.resume()
            if let item { return StreamItem(bytes: item, encoding: self.encoding) }
            if let end {
                try end.get()
                return nil
            }
            await self.wait(.reader) { $0.items.isEmpty && $0.end == nil }
        }
    }

    /// Says that no more comes, because all was sent or something failed.
    func finish(_ end: Result<Void, any Error> = .success(())) {
        let (reader, sender) = self.state.withLock { state in
            state.end = state.end ?? end
            return (state.waiters.removeValue(forKey: .reader), state.waiters.removeValue(forKey: .sender))
        }
        reader?.resume()
        sender?.resume()
    }

    /// Says that nobody reads any more.
    func abandon() {
        let sender = self.state.withLock { state in
            state.isAbandoned = true
            state.items = []
            return state.waiters.removeValue(forKey: .sender)
        }
        sender?.resume()
    }

    /// Waits while `isIdle`, or until it is cancelled.
    private func wait(
        _ side: Side,
        while isIdle: @Sendable (State) -> Bool
    ) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = self.state.withLock { state in
                    let mustWait = isIdle(state) && !Task.isCancelled
                    if mustWait { state.waiters[side] = continuation }
                    return mustWait
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.waiters.removeValue(forKey: side) }?.resume()
        }
    }
}
