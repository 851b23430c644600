internal import Bytes
internal import HeapModule
internal import Identity
internal import PubSub
internal import TestSupport

/// Members on one virtual clock, connected by a test; messages of a connection arrive in order.
final class Party {
    struct Member {
        let signer: FakeSigner
        let peerId: PeerId
        var exchange: PubSub
        var links: Set<Int> = []
        var isSilent = false
        var wake: Duration?
        var delivered: [(batch: EventBatch, publishedAt: Duration, hops: UInt8)] = []
        var missed: UInt64 = 0
        var isIsolated = true
        var violations: [(peer: PeerId, reason: String)] = []
        /// Seconds by which the wall clock is ahead.
        var skew: Int64 = 0
    }

    private struct Event: Comparable {
        enum Kind {
            case message(from: Int, to: Int, [UInt8])
            case wake(Int)
        }

        let at: Duration
        let order: Int
        let kind: Kind

        static func == (left: Event, right: Event) -> Bool { left.order == right.order }
        static func < (left: Event, right: Event) -> Bool {
            left.at == right.at ? left.order < right.order : left.at < right.at
        }
    }

    static let epoch: UInt64 = 1_800_000_000
    static let delay = Duration.milliseconds(20)

    let network: FakeNetwork
    var members: [Member] = []
    var now = Duration.seconds(1)
    /// The messages that were delivered, by kind.
    var messageCounts: [UInt8: Int] = [:]
    private var random: SeededGenerator
    private var events = Heap<Event>()
    private var order = 0

    init(_ count: Int, limits: PubSub.Limits = PubSub.Limits(), seed: UInt64 = 1) throws {
        self.random = SeededGenerator(seed: seed)
        self.network = FakeNetwork(using: &self.random)
        for _ in 0..<count { try self.add(limits: limits) }
    }

    @discardableResult
    func add(limits: PubSub.Limits = PubSub.Limits(), as given: FakeSigner? = nil) throws -> Int {
        let signer = given ?? FakeSigner(using: &self.random)
        let peerId = PeerId(publicKey: signer.publicKey)
        let exchange = PubSub(
            PubSub.Configuration(
                localPeerId: peerId,
                networkId: self.network.id,
                instance: InstanceId(generating: &self.random),
                signer: signer,
                verifySignature: FakeSigner.isValid,
                verifyToken: { [network] in network.isValid($0) },
                randomSeed: self.random.next(),
                limits: limits
            )
        )
        self.members.append(Member(signer: signer, peerId: peerId, exchange: exchange))
        let number = self.members.count - 1
        self.feed(number, .tokenChanged(try self.network.token(for: peerId)))
        return number
    }

    func time(of member: Int) -> NodeTime {
        let seconds = Int64(Self.epoch) + self.now.components.seconds + self.members[member].skew
        return NodeTime(monotonic: self.now, wallSeconds: UInt64(seconds))
    }

    // MARK: Connections

    func connect(_ first: Int, _ second: Int) {
        self.members[first].links.insert(second)
        self.members[second].links.insert(first)
        self.feed(first, .memberUp(self.members[second].peerId))
        self.feed(second, .memberUp(self.members[first].peerId))
    }

    func connectAll() {
        for first in self.members.indices {
            for second in 0..<first { self.connect(first, second) }
        }
    }

    func disconnect(_ first: Int, _ second: Int) {
        self.members[first].links.remove(second)
        self.members[second].links.remove(first)
        self.feed(first, .memberDown(self.members[second].peerId))
        self.feed(second, .memberDown(self.members[first].peerId))
    }

    // MARK: Inputs

    func publish(_ event: String, to topic: String = "news", by member: Int) {
        let content = EventBatch.content(of: [Array(event.utf8)])
        self.feed(member, .published(topic: topic, content: content, count: 1))
    }

    func feed(_ member: Int, _ input: PubSub.Input) {
        var effects: [PubSub.Effect] = []
        self.members[member].exchange.handle(input, at: self.time(of: member), into: &effects)
        for effect in effects { self.perform(effect, of: member) }
    }

    /// Delivers a message to a member as if a peer had sent it.
    func inject(_ message: Message, from peer: Int, to member: Int) {
        self.feed(member, .messageReceived(from: self.members[peer].peerId, message.bytes[...]))
    }

    private func perform(_ effect: PubSub.Effect, of member: Int) {
        switch effect {
        case .send(let peer, let bytes):
            guard let other = self.members.firstIndex(where: { $0.peerId == peer }), !self.members[member].isSilent
            else {
                return
            }
            self.schedule(.message(from: member, to: other, bytes), at: self.now + Self.delay)
        case .wake(let time):
            self.members[member].wake = time
            self.schedule(.wake(member), at: max(time, self.now))
        case .host(.deliver(let batch, let publishedAt, let hops)):
            self.members[member].delivered.append((batch, publishedAt, hops))
        case .host(.missed(_, let count)): self.members[member].missed += count
        case .host(.isolated(let isIsolated)): self.members[member].isIsolated = isIsolated
        case .violation(let peer, let reason): self.members[member].violations.append((peer, reason))
        }
    }

    private func schedule(_ kind: Event.Kind, at time: Duration) {
        self.order += 1
        self.events.insert(Event(at: time, order: self.order, kind: kind))
    }

    func run(for span: Duration) {
        let end = self.now + span
        while let event = self.events.min, event.at <= end {
            self.events.removeMin()
            self.now = event.at
            switch event.kind {
            case .message(let from, let to, let bytes):
                guard self.members[to].links.contains(from), !self.members[to].isSilent else { continue }
                self.messageCounts[bytes.first ?? 0, default: 0] += 1
                self.feed(to, .messageReceived(from: self.members[from].peerId, bytes[...]))
            case .wake(let member):
                guard self.members[member].wake == event.at, !self.members[member].isSilent else { continue }
                self.members[member].wake = nil
                self.feed(member, .timeReached)
            }
        }
        self.now = end
    }

    /// The events that a member got, as texts, in order.
    func texts(of member: Int) -> [String] {
        self.members[member].delivered.flatMap { $0.batch.events.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// A batch of a member that only this test has.
    func batch(
        by member: Int,
        first: UInt64 = 1,
        event: String = "x",
        topic: String = "news",
        seconds: UInt64? = nil,
        instance: InstanceId = InstanceId(),
        token: AccessToken? = nil
    ) throws -> EventBatch {
        let signer = self.members[member].signer
        let batch = EventBatch.create(
            topic: topic,
            content: EventBatch.content(of: [Array(event.utf8)]),
            count: 1,
            first: first,
            instance: instance,
            publishedSeconds: seconds ?? self.time(of: member).wallSeconds,
            token: try token ?? self.network.token(for: self.members[member].peerId),
            signer: signer
        )
        guard let batch else { throw CancellationError() }
        return batch
    }
}
