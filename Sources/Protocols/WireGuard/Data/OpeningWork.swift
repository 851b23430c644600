internal import Crypto
internal import Identity

/// The keys that ``WireGuardInterface/lookUp(_:into:)`` found for a batch of received datagrams.
///
/// The value is self-contained: open outside of locks.
package struct OpeningWork: Sendable {
    /// Consecutive transport messages of one session.
    private struct Run: Sendable {
        var key: SymmetricKey
        var receiver: UInt32
        var datagrams: Range<Int>
    }

    private var runs: [Run] = []
    /// The datagrams that are no transport messages.
    var handshakes: [Int] = []

    package init() {}

    /// Whether the batch has datagrams that are no transport messages.
    package var hasHandshakes: Bool { !handshakes.isEmpty }

    /// Opens the transport messages of the batch for which the work was made.
    ///
    /// It changes the headers of `datagrams`, so that no message must be copied; their other bytes stay.
    package func open(_ datagrams: inout DatagramBatch, into opened: inout OpenedBatch) {
        opened.removeAll()
        for run in runs {
            for index in run.datagrams {
                guard let header = datagrams.transportHeader(at: index) else { continue }
                let isAuthentic = unsafe datagrams.withSealedBox(at: index) { box in
                    unsafe TransportCipher.open(box, with: run.key, into: &opened.packets)
                }
                if isAuthentic {
                    opened.messages.append(.init(receiver: run.receiver, counter: header.counter, datagram: index))
                } else {
                    opened.forged += 1
                }
            }
        }
    }

    /// Releases the keys after ``open(_:into:)``, so that an idle driver keeps no keys of ended sessions.
    package mutating func forgetKeys() { runs.removeAll(keepingCapacity: true) }

    /// Whether the work has keys.
    var hasKeys: Bool { !runs.isEmpty }

    mutating func removeAll() {
        runs.removeAll(keepingCapacity: true)
        handshakes.removeAll(keepingCapacity: true)
    }

    /// Adds a message to the last session's run; returns false if it is of another one.
    mutating func extend(_ header: TransportHeader, _ index: Int) -> Bool {
        guard let last = runs.last, last.receiver == header.receiver, last.datagrams.upperBound == index,
            header.counter < Constants.rejectAfterMessages
        else { return false }
        runs[runs.count - 1].datagrams = last.datagrams.lowerBound..<index + 1
        return true
    }

    /// Begins the run of a session.
    mutating func append(_ header: TransportHeader, _ index: Int, key: SymmetricKey) {
        runs.append(Run(key: key, receiver: header.receiver, datagrams: index..<index + 1))
    }
}

/// The packets that ``OpeningWork/open(_:into:)`` opened, and after ``WireGuardInterface/accept(_:of:at:using:effects:)``
/// those for the local machine.
package struct OpenedBatch: Sendable {
    /// The place of an authentic message.
    struct Message: Sendable {
        var receiver: UInt32
        var counter: UInt64
        var datagram: Int
    }

    /// A packet for the local machine.
    package struct Delivery: Sendable {
        /// The packet's place in ``OpenedBatch/packets``.
        package var packet: Int
        /// The peer's number in the interface.
        var peer: Int
    }

    /// The packets of all authentic messages.
    package fileprivate(set) var packets = PacketBatch()
    /// The packets for the local machine, in order.
    package private(set) var deliveries: [Delivery] = []
    fileprivate(set) var messages: [Message] = []
    var forged = 0

    package init() {}

    mutating func removeAll() {
        packets.removeAll()
        deliveries.removeAll(keepingCapacity: true)
        messages.removeAll(keepingCapacity: true)
        forged = 0
    }

    mutating func deliver(_ index: Int, byteCount: Int, of peer: Int) {
        packets.shorten(index, to: byteCount)
        deliveries.append(Delivery(packet: index, peer: peer))
    }
}
