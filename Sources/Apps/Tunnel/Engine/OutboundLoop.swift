internal import Platform
internal import WireGuard

/// The thread of one queue of the device: packets of the local machine are divided, sealed and sent.
///
/// All memory is reused. A pass reads until the queue is empty or the batch is full, so that a busy queue is sent in few
/// system calls and a quiet one without delay.
struct OutboundLoop {
    /// The packets of one pass: as many as two super-packets have.
    private static let packetLimit = 128

    private let core: EngineCore
    private let device: TunnelDevice
    private let queue: Int
    private let sockets: EngineSockets
    private var wait: EngineWait
    private var frame = ReceivedFrame()
    private var segments = PacketBatch()
    private var packets = WireGuard.PacketBatch(byteCapacity: 256 << 10)
    private var work = SealingWork()
    private var datagrams = DatagramBatch(byteCapacity: 256 << 10)
    private var effects: [WireGuardInterface.Effect] = []

    init(_ core: EngineCore, device: TunnelDevice, queue: Int, sockets: EngineSockets) {
        self.core = core
        self.device = device
        self.queue = queue
        self.sockets = sockets
        wait = EngineWait([core.stop.descriptor, device.descriptor(ofQueue: queue)])
    }

    /// Runs until the engine is stopped or the device fails.
    mutating func run() throws(TunnelError) {
        var isFull = false
        while true {
            // A queue that never becomes empty does not hide the stop.
            wait.wait(atMost: isFull ? .zero : nil)
            guard !wait.isReady(0) else { return }
            isFull = try gather()
            send()
        }
    }

    /// Seals and sends the gathered packets.
    private mutating func send() {
        guard !packets.isEmpty else { return }
        core.withInterface { interface, random, moment in
            interface.prepare(packets, at: moment, using: &random, into: &work, effects: &effects)
        }
        datagrams.removeAll()
        work.seal(packets, into: &datagrams)
        work.forgetKeys()
        packets.removeAll()
        sockets.send(datagrams)
        sockets.perform(&effects)
    }

    /// Reads frames until the queue is empty or the pass has enough, which it returns.
    private mutating func gather() throws(TunnelError) -> Bool {
        for _ in 0..<Self.packetLimit {
            guard packets.count < Self.packetLimit else { return true }
            switch try device.read(queue, into: &frame) {
            case .empty: return false
            case .refused: continue
            case .frame: divide()
            }
        }
        return true
    }

    /// Appends the packets of the frame; contradictory headers drop it.
    private mutating func divide() {
        do throws(OffloadError) {
            var segmentation = try PacketSegmentation(of: frame, packetByteLimit: PacketBatch.packetByteLimit)
            while true {
                segments.removeAll()
                segmentation.write(frame, into: &segments)
                for index in 0..<segments.count { packets.append(segments[index]) }
                guard !segmentation.isComplete, !segments.isEmpty else { return }
                // A frame of very short segments has more of them than one pass may have.
                if packets.count >= Self.packetLimit { send() }
            }
        } catch {
            return
        }
    }
}
