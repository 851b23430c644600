internal import Concurrency

/// A bound on the bytes of incomplete bodies that a peer sends on a connection.
///
/// A stream that waits for more bytes holds those that it has collected. Excess bytes are refused: left unread they would
/// exhaust the connection's flow control, and complete streams would be blocked as well.
final class Inbox: Sendable {
    private let byteLimit: Int
    private let held = Locked(0)

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The bytes that are kept now.
    var heldBytes: Int { held.withLock { $0 } }

    /// The bytes of an inbox that one stream holds, until its last reference is released.
    final class Share: Sendable {
        private let inbox: Inbox
        private let count = Locked(0)

        init(of inbox: Inbox) {
            self.inbox = inbox
        }

        deinit {
            hold(0)
        }

        /// Holds `newCount` bytes from now on, in place of those before; false, and none, when there is no room.
        @discardableResult
        func hold(_ newCount: Int) -> Bool {
            count.withLock { count in
                inbox.held.withLock { held in
                    held -= count
                    count = newCount <= inbox.byteLimit - held ? newCount : 0
                    held += count
                    return count == newCount
                }
            }
        }
    }
}
