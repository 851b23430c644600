internal import CommandModel
internal import Concurrency
internal import DequeModule
package import Identity
internal import Node
internal import RunarNode

/// The messages that arrived and were sent, in memory: a page that is opened later shows them.
///
/// The oldest message of the peer with the most is dropped first: no peer displaces the messages of another.
package final class MessageHistory: Sendable {
    /// Messages that are kept.
    static let limit = 1000
    /// Bytes of all that are kept: a peer may send a thousand large ones.
    static let byteLimit = 16 << 20

    /// A message.
    package struct Message: Codable, Hashable, Sendable {
        enum Direction: String, CaseIterable, Codable, Sendable {
            case incoming = "in"
            case outgoing = "out"
        }

        enum State: String, CaseIterable, Codable, Sendable {
            case sending
            case delivered
            case failed
        }

        let number: Int
        /// Milliseconds since 1970.
        let at: UInt64
        let direction: Direction
        /// Nil for a message to all connected peers.
        let peerId: String?
        /// The network of a message to all connected peers.
        let networkId: String?
        let label: String?
        let text: String?
        let base64: String?
        let bytes: Int
        /// Whether it was sealed to a one-time key.
        let sealed: Bool
        var state: State
        /// The reason of a failure, and the remedy.
        var failure: String?
    }

    private struct Contents: Sendable {
        var messages: Deque<Message> = []
        var bytes = 0
        var next = 0

        mutating func makeRoom() {
            while messages.count > MessageHistory.limit {
                removeOldest(ofPeerWithMost: { _ in 1 })
            }
            while bytes > MessageHistory.byteLimit, messages.count > 1 {
                removeOldest(ofPeerWithMost: \.bytes)
            }
        }

        private mutating func removeOldest(ofPeerWithMost weight: (Message) -> Int) {
            var sums: [String?: Int] = [:]
            for message in messages { sums[message.peerId, default: 0] += weight(message) }
            let peer = sums.max { $0.value < $1.value }?.key ?? nil
            guard let oldest = messages.firstIndex(where: { $0.peerId == peer }) else { return }
            bytes -= messages.remove(at: oldest).bytes
        }
    }

    private let contents = Locked(Contents())
    private let activity: Activity

    init(activity: Activity) { self.activity = activity }

    /// The messages after a number, with one peer or with all, the oldest first.
    package func messages(with peer: PeerId?, since number: Int) -> [Message] {
        let id = peer?.base64Encoded
        return contents.withLock { contents in
            contents.messages.filter { $0.number > number && (id == nil || $0.peerId == id || $0.networkId != nil) }
        }
    }

    /// Records a received message.
    func keep(_ report: MessageReport, label: String?) {
        add { number in
            Message(
                number: number,
                at: activity.now,
                direction: .incoming,
                peerId: report.peerId,
                networkId: nil,
                label: label,
                text: report.text,
                base64: report.base64,
                bytes: report.text?.utf8.count ?? report.bytes,
                sealed: report.sealed,
                state: .delivered
            )
        }
    }

    /// Records a message while `send` delivers it, and then the outcome.
    func whileSending<Result>(
        _ text: String,
        to peer: PeerId?,
        in network: NetworkId?,
        label: String?,
        isSealed: Bool = false,
        _ send: () async throws -> Result
    ) async throws -> (result: Result, number: Int) {
        let number = add { number in
            Message(
                number: number,
                at: activity.now,
                direction: .outgoing,
                peerId: peer?.base64Encoded,
                networkId: network?.base64Encoded,
                label: label,
                text: text,
                base64: nil,
                bytes: text.utf8.count,
                sealed: isSealed,
                state: .sending
            )
        }
        do {
            let result = try await send()
            end(number, .delivered)
            return (result, number)
        } catch {
            // Read in the console, which has no use for commands.
            end(number, .failed, (error as? NodeError).map { "\($0)" } ?? CommandFailure(error).message)
            throw error
        }
    }

    /// Notes that some peers did not confirm a message.
    func noteFailure(of number: Int, _ failure: String) { end(number, .failed, failure) }

    @discardableResult
    private func add(_ make: (Int) -> Message) -> Int {
        let message = contents.withLock { contents in
            contents.next += 1
            let message = make(contents.next)
            contents.messages.append(message)
            contents.bytes += message.bytes
            contents.makeRoom()
            return message
        }
        activity.tell(ActivityMessage(message: message))
        return message.number
    }

    private func end(_ number: Int, _ state: Message.State, _ failure: String? = nil) {
        let message = contents.withLock { contents -> Message? in
            guard let position = contents.messages.firstIndex(where: { $0.number == number }) else { return nil }
            contents.messages[position].state = state
            contents.messages[position].failure = failure
            return contents.messages[position]
        }
        if let message { activity.tell(ActivityMessage(message: message)) }
    }
}
