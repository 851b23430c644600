internal import Locking
internal import OrderedCollections

/// The room that the large bodies of one connection share, from the time they are collected until they are handled.
///
/// What a small body needs is free, so that none waits for a large one. Before more of a body is read it takes as much as
/// the largest may need, and gives back what it did not need once it is whole. Whoever finds no room waits its turn, and
/// the window of its stream holds the sender back meanwhile.
final class BodyRoom: Sendable {
    /// What is read of each body without room: no more than half of the window of a stream that just began, which
    /// therefore stays small as long as a body waits.
    static let freeByteCount = 16 * 1024
    /// So many of the largest bodies have room at a time.
    static let bodyCount = 32

    private struct State: Sendable {
        var left: Int
        var lastNumber = 0
        var waiters: OrderedDictionary<Int, CheckedContinuation<Place, any Error>> = [:]
    }

    private let bodyByteLimit: Int
    private let state: Locked<State>

    /// Creates room for bodies of so many bytes at most.
    init(bodyByteLimit: Int) {
        self.bodyByteLimit = bodyByteLimit
        self.state = Locked(State(left: Self.bodyCount * bodyByteLimit))
    }

    /// How many bodies wait.
    var waitingCount: Int { self.state.withLock { $0.waiters.count } }

    /// Waits for room for the largest body.
    ///
    /// - Throws: `CancellationError` when cancelled.
    func take() async throws -> Place {
        let number = self.state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let isCancelled = Task.isCancelled
                let hasRoom = self.state.withLock { state in
                    if state.waiters.isEmpty, state.left >= self.bodyByteLimit {
                        state.left -= self.bodyByteLimit
                        return true
                    }
                    if !isCancelled { state.waiters[number] = waiter }
                    return false
                }
                if hasRoom {
                    waiter.resume(returning: Place(in: self, self.bodyByteLimit))
                } else if isCancelled {
                    waiter.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            self.state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    private func giveBack(_ byteCount: Int) {
        let served = self.state.withLock { state in
            state.left += byteCount
            var served: [CheckedContinuation<Place, any Error>] = []
            while !state.waiters.isEmpty, state.left >= self.bodyByteLimit {
                state.left -= self.bodyByteLimit
                served.append(state.waiters.removeFirst().value)
            }
            return served
        }
        for waiter in served { waiter.resume(returning: Place(in: self, self.bodyByteLimit)) }
    }

    /// Room that one body has as long as somebody holds this.
    final class Place: Sendable {
        private let room: BodyRoom
        private let byteCount: Locked<Int>

        fileprivate init(in room: BodyRoom, _ byteCount: Int) {
            self.room = room
            self.byteCount = Locked(byteCount)
        }

        deinit {
            self.room.giveBack(self.byteCount.withLock { $0 })
        }

        /// Gives back what a body of so many bytes does not need.
        func shrink(to needed: Int) {
            let surplus = self.byteCount.withLock { held in
                defer { held = min(held, needed) }
                return held - min(held, needed)
            }
            self.room.giveBack(surplus)
        }
    }
}
