#if os(Linux)
internal import Concurrency
internal import Glibc
internal import Platform
internal import TestSupport

@testable internal import Tunnel

/// Threads that carry the packets of two TUN devices from one to the other, in the place of two engines.
///
/// Every packet passes segmentation and coalescing, so that each kernel validates our headers and checksums.
final class DeviceJoin: Sendable {
    /// The counts of both directions.
    struct Counts: Sendable {
        /// Super-packets that a kernel handed out.
        var superPackets = 0
        /// Frames of more than one segment that a kernel took.
        var joined = 0
        var refused = 0
        /// The longest packet after segmentation.
        var longest = 0
        /// The queues that packets were read from.
        var queues: Set<Int> = []
    }

    private let counted = Locked(Counts())
    private let isStopped = Locked(false)
    private let mtu: Locked<Int>

    /// Joins two devices with equally many queues.
    init(_ first: TunnelDevice, _ second: TunnelDevice, mtu: Int) {
        self.mtu = Locked(mtu)
        for (from, to) in [(first, second), (second, first)] {
            for queue in 0..<from.queueCount { carry(queue, from, to) }
        }
    }

    deinit { isStopped.withLock { $0 = true } }

    var counts: Counts { counted.withLock { $0 } }

    func setMTU(_ mtu: Int) { self.mtu.withLock { $0 = mtu } }

    /// Starts a thread that carries the packets of one queue.
    private func carry(_ queue: Int, _ from: TunnelDevice, _ to: TunnelDevice) {
        let (counted, isStopped, mtu) = (counted, isStopped, mtu)
        _ = SystemThread.start {
            var frame = ReceivedFrame()
            var batch = PacketBatch()
            var coalescer = SegmentCoalescer(hasVirtualHeader: to.features.hasVirtualHeader)
            var waiting = pollfd(fd: from.descriptor(ofQueue: queue), events: Int16(POLLIN), revents: 0)
            while !isStopped.withLock({ $0 }) {
                _ = unsafe poll(&waiting, 1, 20)
                batch.removeAll()
                // Several frames for each batch, as a receiver of datagrams has them.
                while batch.count < 64, (try? from.read(queue, into: &frame)) == .frame {  // ends with the device
                    let limit = mtu.withLock { $0 }
                    let isSuper = frame.header.segmentation != .none
                    guard var parts = try? PacketSegmentation(of: frame, packetByteLimit: limit) else {  // counted
                        counted.withLock { $0.refused += 1 }
                        continue
                    }
                    counted.withLock { counts in
                        counts.superPackets += isSuper ? 1 : 0
                        counts.queues.insert(queue)
                    }
                    while !parts.isComplete {
                        parts.write(frame, into: &batch)
                        if !parts.isComplete { Self.deliver(&batch, &coalescer, to, queue, counted) }
                    }
                }
                Self.deliver(&batch, &coalescer, to, queue, counted)
            }
        }
    }

    private static func deliver(
        _ batch: inout PacketBatch,
        _ coalescer: inout SegmentCoalescer,
        _ device: TunnelDevice,
        _ queue: Int,
        _ counted: Locked<Counts>
    ) {
        guard !batch.isEmpty else { return }
        coalescer.coalesce(batch)
        let frames = coalescer.frames
        counted.withLock { counts in
            counts.joined += (0..<frames.count).count { frames.packetCount(of: $0) > 1 }
            counts.longest = max(counts.longest, (0..<batch.count).map { batch[$0].count }.max() ?? 0)
        }
        _ = try? device.write(queue, frames, in: batch)  // the device was closed: the test has ended
        batch.removeAll()
    }
}
#endif
