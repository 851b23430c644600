internal import Crypto
internal import Identity

/// The keys and counters that ``WireGuardInterface/prepare(_:at:using:into:effects:)`` reserved for a batch of packets.
///
/// The counters are spent, whether the packets are sealed or not. The value is self-contained: seal outside of locks.
package struct SealingWork: Sendable {
    /// Consecutive packets for one peer, and their consecutive counters.
    private struct Run: Sendable {
        var key: SymmetricKey
        var receiver: UInt32
        var counter: UInt64
        var endpoint: SocketAddress
        var packets: Range<Int>
    }

    private var runs: [Run] = []
    private var mtu = 0

    package init() {}

    /// Whether no packet can be sent at once.
    package var isEmpty: Bool { runs.isEmpty }

    /// The number of packets that can be sent at once.
    package var packetCount: Int { runs.reduce(0) { $0 + $1.packets.count } }

    /// Seals the packets of the batch for which the work was made, and appends the datagrams.
    package func seal(_ packets: PacketBatch, into datagrams: inout DatagramBatch) {
        for run in runs {
            for (offset, index) in run.packets.enumerated() {
                let header = TransportHeader(receiver: run.receiver, counter: run.counter + UInt64(offset))
                let padding = TransportPadding.count(after: packets.byteCount(at: index), mtu: mtu)
                unsafe packets.withUnsafeBytes(at: index, padding: padding) { packet in
                    let box = unsafe TransportCipher.seal(packet, with: run.key, counter: header.counter)
                    datagrams.appendTransport(header, box: box, endpoint: run.endpoint)
                }
            }
        }
    }

    /// Releases the keys after ``seal(_:into:)``, so that an idle driver keeps no keys of ended sessions.
    package mutating func forgetKeys() { runs.removeAll(keepingCapacity: true) }

    /// Forgets the former batch and keeps the memory.
    mutating func begin(mtu: Int) {
        runs.removeAll(keepingCapacity: true)
        self.mtu = mtu
    }

    /// Adds packets under the next counters of a session.
    mutating func append(_ session: Session, endpoint: SocketAddress, packets: Range<Int>) {
        let run = Run(
            key: session.sendingKey,
            receiver: session.remoteIndex,
            counter: session.nextCounter,
            endpoint: endpoint,
            packets: packets
        )
        runs.append(run)
    }
}
