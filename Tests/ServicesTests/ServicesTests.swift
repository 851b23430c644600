internal import Bytes
internal import Identity
internal import Services
internal import TestSupport
internal import Testing

@Suite("Who offers which services") struct ServicesTests {
    private let peers: [PeerId]
    private var services = Services()
    private var now = Duration.seconds(100)

    init() {
        var random = SeededGenerator(seed: 1)
        self.peers = (0..<4).map { _ in PeerId(publicKey: FakeSigner(using: &random).publicKey) }
    }

    private mutating func feed(_ input: Services.Input) -> [Services.Effect] {
        var effects: [Services.Effect] = []
        self.services.handle(input, at: NodeTime(monotonic: self.now, wallSeconds: 1_800_000_000), into: &effects)
        // Records have their own tests.
        return effects.filter { if case .record = $0 { false } else { true } }
    }

    private static func offer(_ path: String, _ actions: [String], isRunning: Bool = true) -> ServiceOffer {
        ServiceOffer(path: path, isRunning: isRunning, actions: actions.map { ActionOffer(name: $0) })
    }

    /// Connects a peer and makes its offers.
    private mutating func admit(_ peer: Int, _ offers: [ServiceOffer]) {
        _ = self.feed(.memberUp(self.peers[peer]))
        let announcement = Announcement(version: 1, offers: offers)
        _ = self.feed(.messageReceived(from: self.peers[peer], announcement.bytes[...]))
    }

    private mutating func route(_ path: RequestPath, excluding: [Int] = []) -> Int? {
        guard case .success(let provider) = self.services.route(path, excluding: excluding.map { self.peers[$0] })
        else { return nil }
        return self.peers.firstIndex(of: provider.peer)
    }

    /// Returns the peers that offer a service, in the order of their announcements.
    private func providers(of service: String) -> [PeerId] {
        self.services.offersByPeer.filter { $0.offers.contains { $0.path == service } }.map(\.peer)
    }

    private mutating func failure(_ path: RequestPath) -> ServiceFailure.Kind? {
        guard case .failure(let failure) = self.services.route(path) else { return nil }
        return failure.kind
    }

    // MARK: Suspicion

    @Test mutating func `a suspected provider is tried last until it is heard again`() {
        for peer in 0..<3 { self.admit(peer, [Self.offer("math", ["add"])]) }
        _ = self.feed(.memberSuspected(self.peers[1], true))
        var asked: Set<Int?> = []
        for _ in 0..<6 { asked.insert(self.route("math/add")) }
        #expect(asked == [0, 2])
        #expect(self.route("math/add", excluding: [0, 2]) == 1, "a suspected provider is better than none")
        #expect(self.services.canRoute("math/add", excluding: [self.peers[0]]))
        #expect(!self.services.canRoute("math/add", excluding: [self.peers[0], self.peers[2]]))
        #expect(!self.services.canRoute("math/sub", excluding: []))
        _ = self.feed(.memberSuspected(self.peers[1], false))
        asked = []
        for _ in 0..<6 { asked.insert(self.route("math/add")) }
        #expect(asked == [0, 1, 2])
    }

    @Test mutating func `a suspicion of a provider ends with its connection`() {
        for peer in 0..<2 { self.admit(peer, [Self.offer("math", ["add"])]) }
        _ = self.feed(.memberSuspected(self.peers[0], true))
        _ = self.feed(.memberDown(self.peers[0]))
        self.admit(0, [Self.offer("math", ["add"])])
        #expect(Set((0..<4).map { _ in self.route("math/add") }) == [0, 1])
        // Nothing is remembered of a peer that is not connected.
        _ = self.feed(.memberSuspected(self.peers[3], true))
        self.admit(3, [Self.offer("math", ["add"])])
        #expect(Set((0..<6).map { _ in self.route("math/add") }) == [0, 1, 3])
    }

    // MARK: Announcing

    @Test mutating func `a node without services sends no announcement`() {
        #expect(self.feed(.memberUp(self.peers[0])) == [])
        #expect(self.feed(.offered([])) == [])
        #expect(self.feed(.memberUp(self.peers[1])) == [])
    }

    @Test mutating func `members receive the service offers on connection and on each change`() throws {
        let (first, second) = (Self.offer("math", ["add"]), Self.offer("text", ["join"]))
        _ = self.feed(.memberUp(self.peers[0]))
        guard case .send(self.peers[0], let bytes)? = self.feed(.offered([first])).first else {
            Issue.record("nothing was announced")
            return
        }
        let announcement = try Announcement(bytes)
        #expect(announcement.offers == [first])
        #expect(self.feed(.memberUp(self.peers[1])) == [.send(self.peers[1], bytes)])
        #expect(self.feed(.offered([first])) == [], "the same again is no news")

        self.now += .seconds(1)
        let effects = self.feed(.offered([first, second]))
        #expect(effects.count == 2)
        for (effect, peer) in zip(effects, self.peers) {
            guard case .send(peer, let bytes) = effect else { continue }
            let later = try Announcement(bytes)
            #expect(later.offers == [first, second])
            #expect(later.version > announcement.version)
        }
    }

    @Test mutating func `changes in quick succession go out together`() throws {
        _ = self.feed(.memberUp(self.peers[0]))
        _ = self.feed(.offered([Self.offer("a", ["x"])]))
        self.now += .milliseconds(30)
        #expect(self.feed(.offered([Self.offer("b", ["x"])])) == [.wake(at: .milliseconds(100_100))])
        #expect(self.feed(.offered([Self.offer("c", ["x"])])) == [])
        #expect(self.feed(.timeReached) == [.wake(at: .milliseconds(100_100))], "too early")
        self.now = .milliseconds(100_100)
        guard case .send(_, let bytes)? = self.feed(.timeReached).first else {
            Issue.record("nothing was announced")
            return
        }
        #expect(try Announcement(bytes).offers.map(\.path) == ["c"])
    }

    // MARK: Hearing

    @Test mutating func `only a later announcement of a member counts`() {
        let (peer, nonMember) = (self.peers[0], self.peers[1])
        let older = Announcement(version: 4, offers: [Self.offer("old", ["x"])]).bytes[...]
        let newer = Announcement(version: 5, offers: [Self.offer("new", ["x"])]).bytes[...]
        _ = self.feed(.memberUp(peer))
        #expect(self.feed(.messageReceived(from: peer, newer)) == [.host(.changed(peer))])
        #expect(self.feed(.messageReceived(from: peer, older)) == [])
        #expect(self.feed(.messageReceived(from: peer, newer)) == [])
        #expect(self.services.offers(of: peer).map(\.path) == ["new"])
        #expect(self.feed(.messageReceived(from: nonMember, newer)) == [])
        #expect(self.providers(of: "new") == [peer])
    }

    @Test mutating func `a member above the announcement rate breaks the protocol`() {
        let (peer, limits) = (self.peers[0], Services.Limits())
        _ = self.feed(.memberUp(peer))
        for version in 1...UInt64(limits.announcementsAtOnce) {
            let announcement = Announcement(version: version, offers: [Self.offer("a\(version)", ["x"])])
            #expect(self.feed(.messageReceived(from: peer, announcement.bytes[...])) == [.host(.changed(peer))])
        }
        let further = Announcement(version: 99, offers: [Self.offer("b", ["x"])]).bytes[...]
        guard case .violation(peer, _)? = self.feed(.messageReceived(from: peer, further)).first else {
            Issue.record("one more passed")
            return
        }
        #expect(self.providers(of: "b").isEmpty)
    }

    @Test mutating func `malformed announcements are protocol violations`() {
        let peer = self.peers[0]
        _ = self.feed(.memberUp(peer))
        let twice = Announcement(version: 9, offers: [Self.offer("a", ["x"]), Self.offer("a", ["y"])])
        for bytes in [[1, 2, 3], twice.bytes, Announcement(version: 1, offers: []).bytes + [0]] {
            guard case .violation(peer, _)? = self.feed(.messageReceived(from: peer, bytes[...])).first else {
                Issue.record("\(bytes) passed")
                continue
            }
        }
    }

    @Test mutating func `losing one peer leaves the offers of another`() {
        for peer in 0..<2 { self.admit(peer, [Self.offer("math", ["add"])]) }
        #expect(self.feed(.memberDown(self.peers[0])) == [.host(.changed(self.peers[0]))])
        #expect(self.providers(of: "math") == [self.peers[1]])
        #expect((0..<3).map { _ in self.route("math/add") } == [1, 1, 1])
        #expect(self.feed(.memberDown(self.peers[1])) == [.host(.changed(self.peers[1]))])
        #expect(self.failure("math/add") == .noService)
    }

    @Test mutating func `offers beyond the bounds are not kept`() {
        var limits = Services.Limits()
        limits.peers = 2
        self.services = Services(limits: limits)
        for peer in 0..<3 { self.admit(peer, [Self.offer("math", ["add"])]) }
        #expect(self.providers(of: "math") == Array(self.peers.prefix(2)))
        limits.peers = 3
        limits.offerBytes = 2 * Announcement(version: 1, offers: [Self.offer("math", ["add"])]).bytes.count
        self.services = Services(limits: limits)
        for peer in 0..<3 { self.admit(peer, [Self.offer("math", ["add"])]) }
        #expect(self.providers(of: "math") == Array(self.peers.prefix(2)))
        _ = self.feed(.memberDown(self.peers[0]))
        self.admit(3, [Self.offer("math", ["add"])])
        #expect(self.providers(of: "math") == [self.peers[1], self.peers[3]])
    }

    // MARK: Routing

    @Test mutating func `providers are selected round-robin, for each path`() {
        for peer in 0..<3 { self.admit(peer, [Self.offer("math", ["add", "sub"])]) }
        let turns = (0..<6).compactMap { _ in self.route("math/add") }
        #expect(Set(turns.prefix(3)) == [0, 1, 2])
        #expect(Array(turns.suffix(3)) == Array(turns.prefix(3)))
        // Paths in alternation do not tie each to one provider.
        var byPath: [[Int]] = [[], []]
        for turn in 0..<6 { byPath[turn % 2].append(self.route(turn % 2 == 0 ? "math/add" : "math/sub") ?? -1) }
        #expect(Set(byPath[0]) == [0, 1, 2])
        #expect(Set(byPath[1]) == [0, 1, 2])
    }

    @Test mutating func `paths with parameters are balanced, too`() {
        for peer in 0..<2 { self.admit(peer, [Self.offer("users", ["users/{id}"])]) }
        let turns = (0..<4).compactMap { self.route("users/users/\($0)") }
        #expect(turns.count { $0 == 0 } == 2)
        #expect(self.failure("users/users") == .noAction)
        #expect(self.failure("users/users/1/name") == .noAction)
    }

    @Test mutating func `excluded providers are skipped, and a lack of others is reported`() {
        for peer in 0..<3 { self.admit(peer, [Self.offer("math", ["add"])]) }
        #expect(self.route("math/add", excluding: [0, 2]) == 1)
        guard case .failure(let failure) = self.services.route("math/add", excluding: self.peers) else {
            Issue.record("a provider was left")
            return
        }
        #expect(failure.kind == .unreachable)
    }

    @Test mutating func `a missing service, a missing action and a pause have different errors`() {
        #expect(self.failure("math/add") == .noService)
        self.admit(0, [Self.offer("math", ["add"], isRunning: false)])
        #expect(self.failure("text/join") == .noService)
        #expect(self.failure("math/sub") == .noAction)
        #expect(self.failure("math") == .noAction)
        #expect(self.failure("math/add") == .notRunning)
        self.admit(1, [Self.offer("math", ["add"])])
        #expect((0..<2).map { _ in self.route("math/add") } == [1, 1])
    }

    @Test mutating func `a pause and its end take effect immediately`() {
        self.admit(0, [Self.offer("math", ["add"])])
        #expect(self.route("math/add") == 0)
        let peer = self.peers[0]
        let pause = Announcement(version: 2, offers: [Self.offer("math", ["add"], isRunning: false)])
        #expect(self.feed(.messageReceived(from: peer, pause.bytes[...])) == [.host(.changed(peer))])
        #expect(self.failure("math/add") == .notRunning)
        let resumption = Announcement(version: 3, offers: [Self.offer("math", ["add"])])
        #expect(self.feed(.messageReceived(from: peer, resumption.bytes[...])) == [.host(.changed(peer))])
        #expect(self.route("math/add") == 0)
    }

    @Test mutating func `any number of paths is routed in bounded memory`() {
        var limits = Services.Limits()
        limits.rememberedPaths = 4
        self.services = Services(limits: limits)
        self.admit(0, [Self.offer("users", ["{id}"])])
        for number in 0..<100 { #expect(self.route("users/\(number)") == 0) }
    }

    @Test func `an invalid offer is refused`() {
        let many = (0...ServiceOffer.countLimit).map { Self.offer("s\($0)", []) }
        let actions = (0...ServiceOffer.actionLimit).map { "a\($0)" }
        let long = (0..<250).map { Self.offer("s\($0)", (0..<10).map { String(repeating: "a", count: 400) + "\($0)" }) }
        for offers in [
            many, [Self.offer("a/b", [])], [Self.offer("", [])], [Self.offer("a", [""])], [Self.offer("a:b", ["c"])],
            [Self.offer("*", ["c"])], [Self.offer("a", ["b:c"])], [Self.offer("a", actions)],
            [Self.offer("a", []), Self.offer("a", [])], long,
            [ServiceOffer(path: "a", version: String(repeating: "1", count: 65))],
        ] {
            #expect(throws: WireError.self) { try Announcement.check(offers) }
        }
        #expect(throws: Never.self) { try Announcement.check([Self.offer("$registry", ["services/{service}", ">"])]) }
    }
}
