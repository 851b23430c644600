internal import Bytes
internal import NodeCore
internal import Transport

/// The network between the nodes: the latency between two nodes, and the packets in flight.
struct VirtualNetwork {
    let model: NetworkModel
    private let latency: LatencyMap
    var partition = Partition()
    var connections = SimulatedConnections()
    var dials = Dials()
    /// The packets of connections, and the datagrams to groups, that are under way.
    private var packets = Slab<SimulatedPacket>()
    private var connectionChance: SeededGenerator
    private var datagramChance: SeededGenerator
    private var requestChance: SeededGenerator

    /// The shares of requests that later ones overtake, and that arrive twice, because their sender repeats them.
    private static let (requestReordering, requestDuplication) = (0.2, 0.05)

    init(_ model: NetworkModel, seed: UInt64) {
        self.model = model
        latency = LatencyMap(model, seed: seed)
        connectionChance = SeededGenerator(seed: seed, name: "connections")
        datagramChance = SeededGenerator(seed: seed, name: "datagrams")
        requestChance = SeededGenerator(seed: seed, name: "requests")
    }

    // MARK: Time under way

    /// Returns when something that is sent at `time` gets through: then, or at the end of a short partition; nil if that
    /// outlasts every connection.
    private func passage(over way: Way, at time: Int64) -> Int64? {
        guard partition.blocks(way, at: time) else { return time }
        return partition.lasting < model.idleTimeout.nanoseconds ? partition.end : nil
    }

    /// Draws when something sent on a connection arrives; nil if it never does, because a partition outlasts it.
    mutating func arrival(over way: Way, sentAt time: Int64) -> Int64? {
        guard let start = passage(over: way, at: time) else { return nil }
        let oneWay = latency.oneWay(from: way.source, to: way.target)
        guard model.loss > 0 || model.jitter > .zero else { return start + oneWay }
        let link = LinkModel(latency: .nanoseconds(oneWay), jitter: model.jitter, loss: model.loss)
        return start + link.connectionDelay(using: &connectionChance).nanoseconds
    }

    /// Draws when something sent on a connection arrives after all that was sent before; nil if it never does.
    mutating func nextArrival(on slot: UInt32, over way: Way, sentAt now: Int64) -> Int64? {
        guard let end = connections[slot]?[way.target], let free = arrival(over: way, sentAt: now) else { return nil }
        let arrival = max(free, end.lastArrival)
        connections.noteArrival(arrival, on: slot, at: way.target)
        return arrival
    }

    // MARK: Packets

    /// Sends a frame on a connection; returns the packet that it begins, nil if it travels in one that is under way or
    /// never arrives.
    mutating func send(
        _ frame: [UInt8],
        on slot: UInt32,
        over way: Way,
        at now: Int64
    ) -> (packet: UInt32, arrival: Int64)? {
        guard let end = connections[slot]?[way.target] else { return nil }
        let byteCount = end.lastByteCount + frame.count
        if end.lastSent == now, end.lastArrival > now, byteCount <= SimulatedPacket.byteLimit {
            packets[end.lastPacket]?.others.append(frame)
            connections.notePacket(end.lastPacket, byteCount: byteCount, sentAt: now, on: slot, to: way.target)
            return nil
        }
        guard let arrival = nextArrival(on: slot, over: way, sentAt: now) else { return nil }
        let packet = packets.insert(SimulatedPacket(first: frame))
        connections.notePacket(packet, byteCount: frame.count, sentAt: now, on: slot, to: way.target)
        return (packet, arrival)
    }

    /// Sends a datagram to a member of a group; returns the packets that arrive, with their times.
    mutating func send(
        _ datagram: [UInt8],
        _ link: LinkModel,
        over way: Way,
        at now: Int64
    ) -> [(packet: UInt32, arrival: Int64)] {
        guard !partition.blocks(way, at: now) else { return [] }
        return link.datagramDelays(using: &datagramChance).map { delay in
            (packets.insert(SimulatedPacket(first: datagram)), now + delay.nanoseconds)
        }
    }

    /// Sends a request on a stream of its own, out of the order of its connection; returns its arrivals.
    mutating func send(request: [UInt8], over way: Way, at now: Int64) -> [(packet: UInt32, arrival: Int64)] {
        guard !partition.blocks(way, at: now) else { return [] }
        let link = LinkModel(
            latency: .nanoseconds(latency.oneWay(from: way.source, to: way.target)),
            jitter: model.jitter,
            loss: model.loss,
            reordering: Self.requestReordering,
            duplication: Self.requestDuplication
        )
        return link.datagramDelays(using: &requestChance).map { delay in
            (packets.insert(SimulatedPacket(first: request)), now + delay.nanoseconds)
        }
    }

    /// Takes out a packet that arrives.
    mutating func receive(_ packet: UInt32) -> SimulatedPacket? { packets.remove(packet) }
}
