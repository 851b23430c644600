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

    fileprivate struct Waiter: Sendable {
        let side: Side
        let number: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    fileprivate struct State: Sendable {
        var items: [Data] = []
        /// Nil as long as there may be more.
        var end: Result<Void, any Error>?
        /// Who waits; tasks of one handler may send at the same time.
        var waiters: [Waiter] = []
        var lastNumber = 0
        /// Nobody reads any more.
        var isAbandoned = false

        /// Takes out everybody who waits on a side, for whom it looks otherwise now.
        mutating func takeWaiters(_ side: Side) -> [Waiter] {
            let found = self.waiters.filter { $0.side == side }
            self.waiters.removeAll { $0.side == side }
            return found
        }
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
            let (isDone, readers) = try self.state.withLock { state in
                guard !state.isAbandoned, state.end == nil else {
                    throw RunarError.failure(.cancelled, message: "nobody reads any more")
                }
                guard state.items.count < Self.capacity else {
                    return (false, state.takeWaiters(.reader))
                }
                state.items.append(bytes)
                return (true, state.takeWaiters(.reader))
            }
            readers.resume()
            if isDone { return }
            await self.wait(.sender) { $0.items.count >= Self.capacity && !$0.isAbandoned }
        }
    }

    /// The next value, as soon as there is one; nil after the last one.
    func next() async throws -> StreamItem? {
        while true {
            try Task.checkCancellation()
            let (item, end, senders) = self.state.withLock { state in
                let item = state.items.isEmpty ? nil : state.items.removeFirst()
                return (item, state.end, state.takeWaiters(.sender))
            }
            senders.resume()
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
        let waiters = self.state.withLock { state in
            state.end = state.end ?? end
            return state.takeWaiters(.reader) + state.takeWaiters(.sender)
        }
        waiters.resume()
    }

    /// Says that nobody reads any more.
    func abandon() {
        let senders = self.state.withLock { state in
            state.isAbandoned = true
            state.items = []
            return state.takeWaiters(.sender)
        }
        senders.resume()
    }

    /// Waits while `isIdle`, or until it is cancelled.
    private func wait(
        _ side: Side,
        while isIdle: @Sendable (State) -> Bool
    ) async {
        let number = self.state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = self.state.withLock { state in
                    let mustWait = isIdle(state) && !Task.isCancelled
                    if mustWait { state.waiters.append(Waiter(side: side, number: number, continuation: continuation)) }
                    return mustWait
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            let own = self.state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }
            own?.continuation.resume()
        }
    }
}

extension [ItemChannel.Waiter] {
    fileprivate func resume() {
        for waiter in self { waiter.continuation.resume() }
    }
}
