internal import Bytes
internal import Foundation
internal import Transport

/// The state of a proxy, which one thread drives.
struct LinkRunner: Sendable {
    private enum Direction: Sendable {
        case toServer
        case toDialler
    }

    private struct Held: Sendable {
        let bytes: [UInt8]
        let direction: Direction
        /// Leaves when that many datagrams were forwarded.
        let leavesAt: Int
    }

    private static let quietMilliseconds: Int32 = 2
    private static let batch = 64

    let near: LoopbackSocket
    private(set) var counts = ProxyCounts()
    private var far: LoopbackSocket
    private let serverPort: UInt16
    private var diallerPort: UInt16 = 0
    private let impairment: Impairment
    private var chance: SeededGenerator
    private var held: [Held] = []
    private var nextRebinding: Int

    init(serverPort: UInt16, impairment: Impairment, seed: UInt64) throws {
        near = try LoopbackSocket()
        far = try LoopbackSocket()
        self.serverPort = serverPort
        self.impairment = impairment
        chance = SeededGenerator(seed: seed)
        nextRebinding = impairment.rebindingByteCount
    }

    /// Waits a moment for datagrams and passes the available ones on.
    mutating func pass() {
        var descriptors = [near.descriptor, far.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let ready = unsafe poll(&descriptors, nfds_t(descriptors.count), Self.quietMilliseconds)
        guard ready > 0 else { return release(all: true) }
        for _ in 0..<Self.batch {
            guard let (bytes, port) = near.receive() else { break }
            diallerPort = port
            treat(bytes, .toServer)
        }
        for _ in 0..<Self.batch {
            guard let (bytes, port) = far.receive() else { break }
            if port == serverPort { treat(bytes, .toDialler) }
        }
    }

    private mutating func treat(_ bytes: [UInt8], _ direction: Direction) {
        if bytes.count > impairment.maximumByteCount, counts.byteCount >= impairment.maximumBeginsAt {
            counts.tooLong += 1
            return
        }
        if chance.decide(impairment.loss) {
            counts.lost += 1
            return
        }
        var bytes = bytes
        if chance.decide(impairment.corruption), !bytes.isEmpty {
            counts.corrupted += 1
            bytes[Int(chance.next() % UInt64(bytes.count))] ^= 1 << UInt8(chance.next() % 8)
        }
        if chance.decide(impairment.duplication) {
            counts.duplicated += 1
            forward(bytes, direction)
        }
        if chance.decide(impairment.reordering) {
            counts.reordered += 1
            held.append(Held(bytes: bytes, direction: direction, leavesAt: counts.forwarded + 4))
            return
        }
        forward(bytes, direction)
        release(all: false)
    }

    private mutating func forward(_ bytes: [UInt8], _ direction: Direction) {
        counts.forwarded += 1
        counts.byteCount += bytes.count
        switch direction {
        case .toServer:
            rebindIfDue()
            far.send(bytes, to: serverPort)
        case .toDialler: near.send(bytes, to: diallerPort)
        }
    }

    private mutating func release(all: Bool) {
        guard !held.isEmpty else { return }
        let due = held.filter { all || $0.leavesAt <= counts.forwarded }
        held.removeAll { all || $0.leavesAt <= counts.forwarded }
        for datagram in due { forward(datagram.bytes, datagram.direction) }
    }

    /// Takes another port towards the server, as a NAT does after the mapping expired; datagrams that still arrive at the
    /// old port are lost.
    private mutating func rebindIfDue() {
        guard counts.byteCount >= nextRebinding else { return }
        nextRebinding = counts.byteCount + impairment.rebindingByteCount
        guard let fresh = try? LoopbackSocket() else { return }  // Not rebinding shows in the counts.
        far = fresh
        counts.rebindings += 1
    }
}
