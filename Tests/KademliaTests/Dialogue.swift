internal import Bytes
internal import Identity
internal import Kademlia
internal import TestSupport

/// One table and a test in the role of all other members.
struct Dialogue {
    let household: Household
    var table: Kademlia
    var now: NodeTime
    /// The effects of the table since ``forget()``.
    var effects: [Kademlia.Effect] = []
    private var number: UInt32 = 0x8000_0000
    /// Whether records are durable at once; otherwise ``answerDisk(_:isStored:)`` reports it.
    var isDiskAnswering = true
    /// The numbers of the RPCs that ``answerAll(as:)`` has answered.
    private var answered: Set<UInt32> = []
    /// The time at which the table is due to be woken.
    private var wake: Duration?

    /// The table of the household's first member.
    init(members: Int = 4, limits: Kademlia.Limits = Kademlia.Limits()) throws {
        self.household = Household(members: members)
        self.table = Kademlia(self.household.network.configuration(self.household.signers[0], seed: 1, limits: limits))
        self.now = NodeTime(monotonic: .zero, wallSeconds: Swarm.epoch)
        self.feed(.tokenChanged(try self.household.network.token(for: self.household.peers[0])))
    }

    var peers: [PeerId] { self.household.peers }

    func address(_ member: Int) -> SocketAddress { Swarm.address(of: member) }

    mutating func feed(_ input: Kademlia.Input) {
        let count = self.effects.count
        self.table.handle(input, at: self.now, into: &self.effects)
        for case .wake(let at) in self.effects[count...] { self.wake = at }
        guard self.isDiskAnswering else { return }
        for case .host(.persist(let record)) in self.effects[count...] { self.answerDisk(record) }
    }

    /// Reports whether a record is durable.
    mutating func answerDisk(_ record: Record, isStored: Bool = true) {
        let location = Record.location(of: record.key, in: self.household.network.id)
        let id = RecordId(location: location, writer: record.writer)
        self.feed(.persisted(id, version: record.version, isStored))
    }

    mutating func forget() { self.effects = [] }

    /// Moves both clocks on, waking the table whenever it requested it; after each wake `isEnough` may end it.
    mutating func advance(by seconds: Int, until isEnough: (inout Self) -> Bool = { _ in false }) {
        let end = self.now.monotonic + .seconds(seconds)
        while let next = self.wake, next <= end {
            self.wake = nil
            self.move(to: max(next, self.now.monotonic))
            self.feed(.timeReached)
            if isEnough(&self) { return }
        }
        self.move(to: end)
    }

    /// Moves on until the table offers records to a member, and returns the offer.
    mutating func nextOffer(to member: Int, within seconds: Int) -> (number: UInt32, digests: [Message.Digest])? {
        func offer(_ dialogue: Self) -> (number: UInt32, digests: [Message.Digest])? {
            dialogue.queries(to: member).lazy.compactMap { rpc in
                if case .offer(let digests) = rpc.rpc { (rpc.number, digests) } else { nil }
            }.last
        }
        self.advance(by: seconds) { offer($0) != nil }
        return offer(self)
    }

    /// Answers in the name of a member, at once, whatever RPC the table sent it.
    mutating func answerAll(as member: Int, naming contacts: [Contact] = []) {
        for rpc in self.queries(to: member) where self.answered.insert(rpc.number).inserted {
            if case .findPeers = rpc.rpc { self.answer(rpc.number, .peers(contacts), as: member) }
        }
    }

    private mutating func move(to time: Duration) {
        self.now.wallSeconds += UInt64(time.components.seconds - self.now.monotonic.components.seconds)
        self.now.monotonic = time
    }

    mutating func connect(_ members: Int...) {
        for member in members { self.feed(.memberUp(self.peers[member], [self.address(member)])) }
    }

    /// Queries the table in the name of a member and returns its response.
    mutating func query(_ rpc: Message.RPC, as member: Int) -> Message.Answer? {
        self.number += 1
        let count = self.effects.count
        let message = Message(number: self.number, body: .rpc(rpc))
        self.feed(.messageReceived(from: self.peers[member], message.bytes))
        for message in self.messages(to: member, from: count) where message.number == self.number {
            if case .answer(let answer) = message.body { return answer }
        }
        return nil
    }

    /// Returns the messages that the table sent to a member.
    func messages(to member: Int, from start: Int = 0) -> [Message] {
        self.effects[start...].compactMap { effect in
            guard case .send(self.peers[member], _, let bytes) = effect else { return nil }
            return try? Message(bytes)  // the codec's own tests decode them
        }
    }

    /// The RPCs to a member, with their numbers.
    func queries(to member: Int) -> [(number: UInt32, rpc: Message.RPC)] {
        self.messages(to: member).compactMap { message in
            if case .rpc(let rpc) = message.body { (message.number, rpc) } else { nil }
        }
    }

    /// Answers an RPC of the table in the name of a member.
    mutating func answer(_ number: UInt32, _ answer: Message.Answer, as member: Int) {
        self.feed(.messageReceived(from: self.peers[member], Message(number: number, body: .answer(answer)).bytes))
    }

    var violations: [String] {
        self.effects.compactMap { if case .violation(_, let reason) = $0 { reason } else { nil } }
    }

    var violators: [PeerId] {
        self.effects.compactMap { if case .violation(let peer, _) = $0 { peer } else { nil } }
    }

    var persisted: [Record] {
        self.effects.compactMap { if case .host(.persist(let record)) = $0 { record } else { nil } }
    }

    var forgotten: [RecordId] {
        self.effects.compactMap { if case .host(.forget(let id)) = $0 { id } else { nil } }
    }

    func outcome(_ id: UInt64) -> Kademlia.Outcome? {
        self.effects.lazy.compactMap {
            if case .host(.finished(Kademlia.RequestId(id), let outcome, _)) = $0 { outcome } else { nil }
        }.first
    }
}
