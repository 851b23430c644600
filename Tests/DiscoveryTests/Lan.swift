internal import Bytes
internal import HeapModule
internal import Identity

@testable internal import Discovery

/// Many `Discovery` values on one link with virtual time, every run the same for the same seed.
///
/// Datagrams are lost, late, out of order and doubled, for each receiver on its own; links can be cut. It does not model
/// that multicast is slow and shared, nor bursts of losses: the number of datagrams is counted instead.
struct Lan {
    /// The quality of a datagram's path to one receiver.
    struct Quality {
        var loss = 0.0
        var duplication = 0.0
        /// The share of datagrams that are held up, so that later ones may overtake them.
        var reordering = 0.0
        var shortestDelay = Duration.microseconds(200)
        var longestDelay = Duration.milliseconds(5)
        var longestHoldUp = Duration.milliseconds(60)
    }

    struct Node {
        var discovery: Discovery
        let peerId: PeerId
        var address: SocketAddress
        var isUp = false
        var startedAt: Duration?
        /// The links between nodes of different parts are cut.
        var part = 0
        /// The offset of its wall clock, in seconds.
        var clockOffset: Int64 = 0
        var wake: Duration?
        /// The times at which each peer was first discovered and last lost.
        var firstHeard: [PeerId: Duration] = [:]
        var lost: [PeerId: Duration] = [:]
        var addresses: [PeerId: [SocketAddress]] = [:]
        var sentAt: [Duration] = []
        var effects: [Discovery.Effect] = []
    }

    private enum Happening {
        case wake(Int)
        case delivery(Int, [UInt8], from: SocketAddress)
        case start(Int)
    }

    private struct Event: Comparable {
        let time: Duration
        let number: Int
        let what: Happening

        static func < (left: Event, right: Event) -> Bool { (left.time, left.number) < (right.time, right.number) }
        static func == (left: Event, right: Event) -> Bool { left.number == right.number }
    }

    var quality: Quality
    var nodes: [Node] = []
    private(set) var now = Duration.zero
    var random: SeededGenerator
    private var events = Heap<Event>()
    private var eventCount = 0
    /// Effects are kept for tests that look at all of them.
    var isRecording = false
    static let wallStart: UInt64 = 1_800_000_000

    init(_ quality: Quality = Quality(), seed: UInt64) {
        self.quality = quality
        random = SeededGenerator(seed: seed, name: "lan")
    }

    /// Returns the number of datagrams that all nodes sent since `begin`.
    func sentCount(since begin: Duration = .zero) -> Int {
        nodes.reduce(0) { $0 + $1.sentAt.count { $0 >= begin } }
    }

    func time(for node: Int) -> NodeTime {
        let seconds = Int64(Self.wallStart) + now.components.seconds + nodes[node].clockOffset
        // Each node's monotonic clock has a start of its own.
        return NodeTime(monotonic: now + .seconds(node * 1000), wallSeconds: UInt64(seconds))
    }

    @discardableResult
    mutating func add(_ discovery: Discovery) -> Int {
        let index = nodes.count
        let ip = IPAddress.v4(0xC0A8_0000 | UInt32(index + 1))
        let address = SocketAddress(ip, port: 4433)
        nodes.append(Node(discovery: discovery, peerId: discovery.peerId, address: address))
        input(.addressesChanged([address]), to: index)
        return index
    }

    mutating func start(_ index: Int, at time: Duration) { push(time, .start(index)) }

    /// The node stops without a word.
    mutating func crash(_ index: Int) { nodes[index].isUp = false }

    mutating func input(_ input: Discovery.Input, to index: Int) {
        var effects: [Discovery.Effect] = []
        nodes[index].discovery.handle(input, at: time(for: index), into: &effects)
        if isRecording { nodes[index].effects += effects }
        for effect in effects { perform(effect, of: index) }
    }

    /// Delivers a datagram to every node that is up, as if it had been sent from `source`.
    mutating func inject(_ datagram: [UInt8], from source: SocketAddress) {
        for index in nodes.indices where nodes[index].isUp {
            input(.datagramReceived(datagram, from: source), to: index)
        }
    }

    /// Processes all events up to `end`.
    mutating func run(until end: Duration) {
        while let next = events.min, next.time <= end {
            let event = events.removeMin()
            now = max(now, event.time)
            switch event.what {
            case .start(let index):
                nodes[index].isUp = true
                nodes[index].startedAt = now
                input(.started, to: index)
            case .wake(let index):
                guard nodes[index].wake == event.time, nodes[index].isUp else { continue }
                nodes[index].wake = nil
                input(.timeReached, to: index)
            case .delivery(let index, let bytes, let source):
                guard nodes[index].isUp else { continue }
                input(.datagramReceived(bytes, from: source), to: index)
            }
        }
        now = max(now, end)
    }

    private mutating func perform(_ effect: Discovery.Effect, of index: Int) {
        switch effect {
        case .host(.multicast(let bytes)): multicast(bytes, from: index)
        case .wake(let time):
            nodes[index].wake = time - .seconds(index * 1000)
            push(time - .seconds(index * 1000), .wake(index))
        case .peerHeard(let peer, _, let addresses):
            if nodes[index].firstHeard[peer] == nil { nodes[index].firstHeard[peer] = now }
            nodes[index].addresses[peer] = addresses
        case .peerLost(let peer, _): nodes[index].lost[peer] = now
        case .deviceKeyUsedTwice, .host(.ignored): break
        }
    }

    private mutating func multicast(_ bytes: [UInt8], from sender: Int) {
        nodes[sender].sentAt.append(now)
        let source = nodes[sender].address
        for index in nodes.indices where nodes[index].part == nodes[sender].part {
            // A node's own datagrams are looped back to it.
            if index != sender, random.decide(quality.loss) { continue }
            let copies = random.decide(quality.duplication) ? 2 : 1
            for _ in 0..<copies {
                var delay = quality.shortestDelay
                delay += random.duration(upTo: quality.longestDelay - quality.shortestDelay)
                if random.decide(quality.reordering) { delay += random.duration(upTo: quality.longestHoldUp) }
                push(now + delay, .delivery(index, bytes, from: source))
            }
        }
    }

    private mutating func push(_ time: Duration, _ what: Happening) {
        eventCount += 1
        events.insert(Event(time: time, number: eventCount, what: what))
    }
}
