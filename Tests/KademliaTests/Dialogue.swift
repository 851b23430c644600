internal import Bytes
internal import Identity
internal import Kademlia

/// One table and a test that plays everybody else.
struct Dialogue {
    let household: Household
    var table: Kademlia
    var now: NodeTime
    /// What the table did since ``forget()``.
    var effects: [Kademlia.Effect] = []
    private var number: UInt32 = 0x8000_0000

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
        self.table.handle(input, at: self.now, into: &self.effects)
    }

    mutating func forget() { self.effects = [] }

    /// Moves both clocks on, waking the table whenever it asked for it.
    mutating func advance(by seconds: Int) {
        let end = self.now.monotonic + .seconds(seconds)
        var seen = 0
        var wake = self.lastWake
        while let next = wake, next <= end {
            self.move(to: max(next, self.now.monotonic))
            seen = self.effects.count
            self.feed(.timeReached)
            wake = self.effects[seen...].lazy.compactMap { if case .wake(let at) = $0 { at } else { nil } }.last
        }
        self.move(to: end)
        if let wake { self.effects.append(.wake(at: wake)) }
    }

    private var lastWake: Duration? {
        self.effects.lazy.compactMap { if case .wake(let at) = $0 { at } else { nil } }.last
    }

    private mutating func move(to time: Duration) {
        self.now.wallSeconds += UInt64(time.components.seconds - self.now.monotonic.components.seconds)
        self.now.monotonic = time
    }

    mutating func connect(_ members: Int...) {
        for member in members { self.feed(.memberUp(self.peers[member], [self.address(member)])) }
    }

    /// Asks the table in the name of a member and returns its answer.
    mutating func ask(_ question: Message.Question, as member: Int) -> Message.Answer? {
        self.number += 1
        let count = self.effects.count
        let message = Message(number: self.number, body: .question(question))
        self.feed(.messageReceived(from: self.peers[member], message.bytes))
        for message in self.messages(to: member, from: count) where message.number == self.number {
            if case .answer(let answer) = message.body { return answer }
        }
        return nil
    }

    /// What the table has sent to a member.
    func messages(to member: Int, from start: Int = 0) -> [Message] {
        self.effects[start...].compactMap { effect in
            guard case .send(self.peers[member], _, let bytes) = effect else { return nil }
            return try? Message(bytes)  // what the table sends is read by the codec's own tests
        }
    }

    /// The questions to a member, with their numbers.
    func questions(to member: Int) -> [(number: UInt32, question: Message.Question)] {
        self.messages(to: member).compactMap { message in
            if case .question(let question) = message.body { (message.number, question) } else { nil }
        }
    }

    /// Answers a question of the table in the name of a member.
    mutating func answer(_ number: UInt32, _ answer: Message.Answer, as member: Int) {
        self.feed(.messageReceived(from: self.peers[member], Message(number: number, body: .answer(answer)).bytes))
    }

    var offences: [String] {
        self.effects.compactMap { if case .offence(_, let reason) = $0 { reason } else { nil } }
    }

    var offenders: [PeerId] {
        self.effects.compactMap { if case .offence(let peer, _) = $0 { peer } else { nil } }
    }

    var persisted: [Record] {
        self.effects.compactMap { if case .persist(let record) = $0 { record } else { nil } }
    }

    var forgotten: [RecordId] {
        self.effects.compactMap { if case .forget(let id) = $0 { id } else { nil } }
    }

    func outcome(_ id: UInt64) -> Kademlia.Outcome? {
        self.effects.lazy.compactMap {
            if case .finished(Kademlia.RequestId(id), let outcome, _) = $0 { outcome } else { nil }
        }.first
    }
}
