internal import Bytes
internal import HeapModule
internal import Identity
internal import OrderedCollections
internal import TestSupport

@testable internal import Mailbox

/// Members on one virtual clock with disks, a hash table that all of them reach, and connections that a test breaks.
///
/// Messages of a connection arrive in order, or not at all if it breaks first.
final class MailNetwork {
    /// The part of a member that a restart keeps.
    struct Disk {
        var held: OrderedDictionary<MailId, (mail: Mail, description: HeldMail)> = [:]
        var outgoing: OrderedDictionary<MailId, (mail: Mail, description: OutgoingMail)> = [:]
        /// The ids of the mail that the application has stored.
        var received: OrderedSet<MailId> = []
    }

    struct Member {
        let peerId: PeerId
        /// The running process; nil while the member is offline.
        var mailbox: Mailbox?
        /// Rises with each start, so that events for an earlier process are dropped.
        var generation = 0
        var disk = Disk()
        var links: OrderedSet<Int> = []
        var wake: Duration?
        /// The bodies that the person saw, in order.
        var shown: [[UInt8]] = []
        var progress: [MailId: Mailbox.Progress] = [:]
        var violations: [String] = []
        /// The answer of the application to mail; nil if its disk fails.
        var reception: Reception? = .delivered
    }

    private enum Event {
        case message(from: Int, to: Int, link: Int, [UInt8])
        case input(Int, generation: Int, Mailbox.Input)
        case wake(Int, generation: Int)
        case action(() -> Void)
    }

    private struct Entry: Comparable {
        let at: Duration
        let order: Int
        let event: Event

        static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
        static func < (left: Entry, right: Entry) -> Bool {
            left.at == right.at ? left.order < right.order : left.at < right.at
        }
    }

    static let epoch: UInt64 = 1_800_000_000
    private static let delay = Duration.milliseconds(20)
    private static let diskDelay = Duration.milliseconds(2)
    private static let tableDelay = Duration.milliseconds(200)

    let id: NetworkId
    var members: [Member] = []
    var now = Duration.seconds(1)
    var random: SeededGenerator
    /// Whether members that are online at one time connect to each other.
    var isMeshed = true
    /// The share of messages after which the connection breaks.
    var breakShare = 0.0
    /// The answers of hostile members to messages, by the sender; nil for one that is handled as usual.
    var hostile: [Int: (_ peer: Int, _ message: Message) -> [Message]?] = [:]
    /// The lookups of the hash table, and the members to which others tried to connect.
    private(set) var lookups: [(member: Int, place: Bytes32)] = []
    private(set) var sought: [(member: Int, peer: Int)] = []
    /// The messages that were delivered, for tests that look at them.
    private(set) var sent: [(from: Int, to: Int, message: Message)] = []
    private var events = Heap<Entry>()
    private var order = 0
    /// The number of the present connection of each pair.
    private var linkNumbers: [Set<Int>: Int] = [:]
    private let limits: Mailbox.Limits

    init(_ count: Int, limits: Mailbox.Limits = Mailbox.Limits(), seed: UInt64 = 1) {
        self.limits = limits
        random = SeededGenerator(seed: seed)
        id = FakeNetwork(using: &random).id
        for _ in 0..<count {
            members.append(Member(peerId: PeerId(publicKey: FakeSigner(using: &random).publicKey)))
        }
    }

    func number(of peer: PeerId) -> Int? { members.firstIndex { $0.peerId == peer } }

    private func time() -> NodeTime {
        NodeTime(monotonic: now, wallSeconds: Self.epoch + UInt64(now.components.seconds))
    }

    // MARK: Processes

    /// Starts members whose applications take mail.
    func start(_ numbers: Int...) { for number in numbers { start(number, isReceiving: true) } }

    func start(_ number: Int, isReceiving: Bool, holdsMail: Bool = true) {
        guard members[number].mailbox == nil else { return }
        let configuration = Mailbox.Configuration(
            localPeerId: members[number].peerId,
            networkId: id,
            secret: SecretBytes(copying: random.bytes(32)),
            randomSeed: random.next(),
            holdsMail: holdsMail,
            limits: limits
        )
        members[number].mailbox = Mailbox(configuration)
        members[number].generation += 1
        let disk = members[number].disk
        feed(number, .host(.heldLoaded(disk.held.values.map(\.description))))
        for mail in disk.outgoing.values { feed(number, .host(.submitted(mail.description))) }
        if isReceiving { feed(number, .host(.receiving(true))) }
        guard isMeshed else { return }
        for other in members.indices where other != number && members[other].mailbox != nil { connect(number, other) }
    }

    /// Ends processes at once, as a crash does.
    func stop(_ numbers: Int...) {
        for number in numbers {
            for other in members[number].links { disconnect(number, other) }
            members[number].mailbox = nil
            members[number].wake = nil
        }
    }

    var online: [Int] { members.indices.filter { members[$0].mailbox != nil } }

    // MARK: Connections

    func connect(_ first: Int, _ second: Int) {
        guard members[first].mailbox != nil, members[second].mailbox != nil,
            !members[first].links.contains(second)
        else { return }
        linkNumbers[[first, second], default: 0] += 1
        members[first].links.append(second)
        members[second].links.append(first)
        feed(first, .memberUp(members[second].peerId))
        feed(second, .memberUp(members[first].peerId))
    }

    func disconnect(_ first: Int, _ second: Int) {
        guard members[first].links.contains(second) else { return }
        linkNumbers[[first, second], default: 0] += 1
        members[first].links.remove(second)
        members[second].links.remove(first)
        feed(first, .memberDown(members[second].peerId))
        feed(second, .memberDown(members[first].peerId))
    }

    // MARK: Mail

    /// Stores a mail with its sender, and submits it.
    @discardableResult
    func send(
        _ text: String,
        from sender: Int,
        to recipient: Int,
        lifetime seconds: UInt64 = 86_400,
        homes: [Int] = []
    ) -> MailId {
        let owner = members[recipient].peerId
        let mail = Mail(
            to: MailboxId(of: owner, in: id),
            expirationSeconds: time().wallSeconds + seconds,
            body: Array(text.utf8)
        )
        let outgoing = OutgoingMail(mail, to: owner, homes: homes.map { members[$0].peerId })
        members[sender].disk.outgoing[mail.id] = (mail, outgoing)
        feed(sender, .host(.submitted(outgoing)))
        return mail.id
    }

    /// The texts that a person saw.
    func texts(of number: Int) -> [String] { members[number].shown.map { String(decoding: $0, as: UTF8.self) } }

    /// The members whose disks hold a mail.
    func holders(of mail: MailId) -> [Int] { members.indices.filter { members[$0].disk.held[mail] != nil } }

    // MARK: Events

    func feed(_ number: Int, _ input: Mailbox.Input) {
        var effects: [Mailbox.Effect] = []
        members[number].mailbox?.handle(input, at: time(), into: &effects)
        for effect in effects { perform(effect, of: number) }
    }

    /// Delivers a message to a member as if a peer had sent it.
    func inject(_ bytes: [UInt8], from peer: Int, to number: Int) {
        feed(number, .messageReceived(from: members[peer].peerId, bytes[...]))
    }

    func run(for span: Duration) {
        let end = now + span
        while let entry = events.min, entry.at <= end {
            events.removeMin()
            now = max(now, entry.at)
            handle(entry.event)
        }
        now = end
    }

    /// Schedules something that a test does later.
    func after(_ span: Duration, _ body: @escaping () -> Void) { schedule(.action(body), in: span) }

    private func handle(_ event: Event) {
        switch event {
        case .message(let sender, let receiver, let link, let bytes):
            guard linkNumbers[[sender, receiver]] == link, members[sender].links.contains(receiver) else { return }
            if random.decide(breakShare) {
                disconnect(sender, receiver)
                schedule(.action { [weak self] in self?.connect(sender, receiver) }, in: .seconds(1))
                return
            }
            let message: Message
            do { message = try Message(bytes) } catch { preconditionFailure("\(error)") }
            sent.append((sender, receiver, message))
            guard let answers = hostile[receiver]?(sender, message) else {
                return inject(bytes, from: sender, to: receiver)
            }
            for answer in answers { transmit(answer.bytes, from: receiver, to: sender) }
        case .input(let number, let generation, let input):
            guard members[number].generation == generation else { return }
            feed(number, input)
        case .wake(let number, let generation):
            guard members[number].generation == generation, let wake = members[number].wake, wake <= now else { return }
            members[number].wake = nil
            feed(number, .timeReached)
        case .action(let body): body()
        }
    }

    private func schedule(_ event: Event, in span: Duration) {
        order += 1
        events.insert(Entry(at: now + span, order: order, event: event))
    }

    private func answer(_ number: Int, in span: Duration, _ input: Mailbox.Input) {
        schedule(.input(number, generation: members[number].generation, input), in: span)
    }

    /// The members that a lookup of the hash table finds.
    private func nearest(to place: Bytes32, unlike number: Int) -> [PeerId] {
        let peers = online.filter { $0 != number }.map { members[$0].peerId }
        return Array(peers.sorted { place.isNearer($0, than: $1) }.prefix(limits.lookupMembers))
    }

    private func transmit(_ bytes: [UInt8], from number: Int, to other: Int) {
        guard let link = linkNumbers[[number, other]] else { return }
        schedule(.message(from: number, to: other, link: link, bytes), in: Self.delay)
    }

    private func perform(_ effect: Mailbox.Effect, of number: Int) {
        switch effect {
        case .send(let peer, let bytes):
            guard let other = self.number(of: peer) else { return }
            transmit(bytes, from: number, to: other)
        case .connect(let peer):
            guard let other = self.number(of: peer) else { return }
            sought.append((number, other))
            schedule(.action { [weak self] in self?.connect(number, other) }, in: Self.delay)
        case .wake(let time):
            members[number].wake = time
            schedule(.wake(number, generation: members[number].generation), in: max(time - now, .zero))
        case .search(let place):
            lookups.append((number, place))
            answer(number, in: Self.tableDelay, .membersFound(nearest(to: place, unlike: number)))
        case .violation(_, let reason): members[number].violations.append(reason)
        case .host(let effect): perform(effect, of: number)
        }
    }

    private func perform(_ effect: Mailbox.HostEffect, of number: Int) {
        switch effect {
        case .readOutgoing(let id, let relays):
            if !relays.isEmpty { updateOutgoing(id, of: number, relays: relays) }
            answer(number, in: Self.diskDelay, .host(.outgoingRead(id, members[number].disk.outgoing[id]?.mail)))
        case .progressed(let id, let progress):
            members[number].progress[id] = progress
            if progress.isFinal {
                members[number].disk.outgoing[id] = nil
            } else if case .held(let holders) = progress {
                updateOutgoing(id, of: number, holders: holders)
            }
        case .hold(let mail, let description):
            members[number].disk.held[mail.id] = (mail, description)
            answer(number, in: Self.diskDelay, .host(.held(mail.id, true)))
        case .readHeld(let ids, let owner):
            let mails = ids.compactMap { members[number].disk.held[$0]?.mail }
            answer(number, in: Self.diskDelay, .host(.heldRead(for: owner, mails)))
        case .delete(let ids): for id in ids { members[number].disk.held[id] = nil }
        case .receive(let mail, _):
            let reception = members[number].reception
            // The application stores the id with the mail, and shows mail that is new.
            if reception == .delivered, members[number].disk.received.append(mail.id).inserted {
                members[number].shown.append(mail.body)
            }
            answer(number, in: Self.diskDelay, .host(.stored([mail.id], reception)))
        }
    }

    private func updateOutgoing(
        _ id: MailId,
        of number: Int,
        holders: [PeerId]? = nil,
        relays: [PeerId]? = nil
    ) {
        guard let (mail, description) = members[number].disk.outgoing[id] else { return }
        let update = OutgoingMail(
            mail,
            to: description.recipient,
            homes: description.homes,
            holders: holders ?? description.holders,
            relays: relays ?? description.relays
        )
        members[number].disk.outgoing[id] = (mail, update)
    }
}
