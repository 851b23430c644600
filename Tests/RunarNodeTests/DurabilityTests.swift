internal import Concurrency
internal import Foundation
internal import Mailbox
internal import NodeCore
internal import SlotStore
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import Node
@testable internal import NodeStore
@testable internal import RunarNode

/// Every kind of change that a running node stores, on a disk that is full, fails, or loses power.
@Suite("Every kind of write on a failing disk", .timeLimit(.minutes(15))) struct DurabilityTests {
    typealias Kind = NodeDriver.Persistence.Kind

    @Test func `a change is acknowledged only when it is durable, at every point of a failing disk`() async throws {
        let device = try FailingDevice()
        var (kinds, points) = (0, 0)
        for kind in Kind.allCases {
            guard let sample = try device.sample(of: kind) else {
                #expect(kind.failurePolicy == .none)
                continue
            }
            #expect(sample.change.kind == kind && kind.failurePolicy != .none)
            let walk = FailingDiskWalk(
                open: { try await device.open(in: $0, isStarted: sample.needsDriver) },
                write: { node in node.store([sample.change]).allSatisfy(\.isStored) },
                close: { node in
                    await node.stop()
                    try? node.store.database.close()  // the power may be lost
                },
                check: { directory, isAcknowledged, fault in
                    let store = try NodeStore(path: directory.file("state.sqlite"))
                    #expect(try store.slot("before") == [1], "\(kind), \(fault)")
                    if isAcknowledged { #expect(try sample.isThere(store), "\(kind), \(fault)") }
                    try store.database.close()
                }
            )
            let count = try await walk.run(in: device.directory)
            #expect(count >= 3, "\(kind)")
            kinds += 1
            points += count
        }
        print("\(kinds) kinds of changes, \(points) points")
    }

    @Test func `a put fails on a full disk and succeeds once there is room`() async throws {
        let device = try FailingDevice()
        let disk = try FailingDisk(of: device.directory)
        let node = try await device.open(in: device.directory, isStarted: true)
        let value = Data(repeating: 1, count: 60_000)
        disk.arm(.full(afterBytes: 0))
        let error = await failure {
            _ = try await node.dhtPut(networkId: device.own.networkId, key: Data("door".utf8), value: value)
        }
        #expect(error as? StorageError == .full(path: device.directory.file("state.sqlite")))
        #expect(node.storageProblem() != nil)
        // A change that was not acknowledged is not shown.
        #expect(node.dhtStatus(networkId: device.own.networkId)?.records == 0)

        disk.heal()
        // Another change may have failed; it is stored again after a pause.
        while node.storageProblem() != nil { await Task.yield() }
        try await node.dhtPut(networkId: device.own.networkId, key: Data("door".utf8), value: value)
        await node.stop()
        try node.store.database.close()

        let again = try await device.open(in: device.directory, isStarted: true)
        #expect(try await again.dhtGet(networkId: device.own.networkId, key: Data("door".utf8)) == value)
        await again.stop()
        try again.store.database.close()
    }

    @Test func `a revocation that could not be stored is stored once there is room`() async throws {
        let device = try FailingDevice()
        let disk = try FailingDisk(of: device.directory)
        let node = try await device.open(in: device.directory, isStarted: true)
        let sample = try #require(try device.sample(of: .revocations))
        disk.arm(.failure(at: 0))
        let driver = try node.running()
        driver.persistence.add(sample.change)
        // A later change waits for the outcome, so the queue tries again at once.
        let value = Data(repeating: 1, count: 10)
        _ = try await node.dhtPut(networkId: device.own.networkId, key: Data("key".utf8), value: value)
        _ = try await node.dhtPut(networkId: device.own.networkId, key: Data("key".utf8), value: value)
        #expect(try sample.isThere(node.store))
        #expect(driver.storageFailure == nil)
        await node.stop()
        try node.store.database.close()
    }
}

/// A device with the memberships and members that the changes concern, with its state in a directory.
struct FailingDevice {
    /// A change, and whether a store has it.
    struct Sample {
        let change: NodeDriver.Persistence
        var needsDriver = false
        let isThere: (NodeStore) throws -> Bool
    }

    private static let address = "192.0.2.7:4433"

    let directory: TemporaryDirectory
    private let keys = InMemoryKeyStorage()
    private let household = Household()
    /// The time at which the directory was made; nodes are opened a little later.
    private let madeAt = NodeClock.system().now().wallSeconds
    private let device: PeerId
    private let member: PeerId
    private let writer = generatePeerKey()
    /// The network that the device owns.
    let own: NetworkMetadata
    private let owner: RunarNode
    private let other: NetworkMetadata
    private let third: NetworkMetadata
    private let held: Mail
    private let outgoing: Mail
    private let record: Record

    init() throws {
        self.directory = try TemporaryDirectory()
        self.member = PeerId(publicKey: generatePeerKey().publicKey)
        self.owner = try self.household.makeNode()
        self.other = try self.owner.createNetwork(name: "Other")
        self.third = try self.owner.createNetwork(name: "Third")
        let path = self.directory.file("state.sqlite")
        let node = try self.household.makeNode(keys: self.keys, statePath: path)
        self.device = node.peerId
        self.own = try node.createNetwork(name: "Own")
        let network = self.other.networkId
        try node.addNetworkToken(
            networkId: network,
            token: self.owner.issueToken(for: node.peerId, in: network, expiration: nil)
        )
        try node.addNetwork(self.other)
        let hour = Date(timeIntervalSince1970: Double(self.madeAt + 3_600))
        _ = try node.issueToken(for: self.member, in: self.own.networkId, expiration: hour)
        let address = try SocketAddress(parsing: Self.address)
        try node.store.noteAdmission(of: self.member, in: network, address: address, at: self.madeAt)
        let end = self.madeAt + 86_400
        self.held = Mail(to: MailboxId(of: self.member, in: network), expirationSeconds: end, body: [1])
        self.outgoing = Mail(to: MailboxId(of: self.member, in: network), expirationSeconds: end, body: [2])
        try node.mailService.hold([(network, self.held, Self.description(of: self.held, from: self.member))])
        try node.mailService.add(self.outgoing, OutgoingMail(self.outgoing, to: self.member), in: network)
        self.record = try Self.makeRecord("before", self.writer, self.owner, in: network, until: end)
        try node.store.keep([StoredRecord(self.record, in: network)])
        try node.store.setSlot("before", to: [1])
        try node.store.database.close()
    }

    private static func description(of mail: Mail, from peer: PeerId) -> HeldMail {
        HeldMail(
            id: mail.id,
            mailbox: mail.mailbox,
            expirationSeconds: mail.expirationSeconds,
            byteCount: mail.body.count,
            depositor: peer
        )
    }

    private static func makeRecord(
        _ key: String,
        _ writer: Ed25519KeyPair,
        _ owner: RunarNode,
        in network: NetworkId,
        until end: UInt64
    ) throws -> Record {
        try Record.create(
            key: Array(key.utf8),
            value: [UInt8](repeating: 7, count: 9_000),
            version: 1,
            expirySeconds: end,
            token: owner.issueToken(for: PeerId(publicKey: writer.publicKey), in: network, expiration: nil),
            signer: writer.privateKey
        )
    }

    /// Opens the device in a copy of the directory, a quarter of an hour after that was made.
    func open(in directory: TemporaryDirectory, isStarted: Bool) async throws -> RunarNode {
        let system = NodeClock.system()
        let clock = NodeClock(
            now: {
                let time = system.now()
                return NodeTime(monotonic: time.monotonic, wallSeconds: time.wallSeconds + 900)
            },
            sleep: system.sleep
        )
        let node = try self.household.makeNode(
            keys: self.keys,
            statePath: directory.file("state.sqlite"),
            clock: clock
        )
        if isStarted { try await node.start() }
        return node
    }

    /// A change of each kind; nil for those that store nothing.
    func sample(of kind: NodeDriver.Persistence.Kind) throws -> Sample? {
        let (network, member, madeAt) = (self.other.networkId, self.member, self.madeAt)
        switch kind {
        case .revocations:
            let revocation = try Revocation.create(
                peerId: member,
                networkId: network,
                networkPrivateKey: self.owner.networkKey(of: network).privateKey
            )
            return Sample(change: .revocations([revocation])) { try !$0.revocations(of: network).isEmpty }
        case .peer:
            let peer = PeerId(publicKey: self.writer.publicKey)
            return Sample(change: .peer(peer, network, nil)) { store in
                try store.peers(of: network).contains { $0.peerId == peer }
            }
        case .peersSeen:
            return Sample(change: .peersSeen([member])) { store in
                try store.peers().first { $0.peerId == member }?.lastSeen ?? 0 >= madeAt + 900
            }
        case .addressFailure:
            let address = try SocketAddress(parsing: Self.address)
            return Sample(change: .addressFailed(member, address, isStale: false)) { store in
                try store.addresses(of: member).first?.failures == 1
            }
        case .revokedHere:
            return Sample(change: .revokedHere(network)) { store in
                try store.network(network)?.token == nil && store.records(of: network).isEmpty
                    && store.mails(in: .held, of: network).isEmpty
            }
        case .joinGranted:
            let third = self.third.networkId
            let token = try self.owner.issueToken(for: self.device, in: third, expiration: nil)
            let grant = JoinGrant(token: token, metadata: self.third)
            return Sample(change: .joinGranted(grant, inviter: self.owner.peerId)) { store in
                try store.network(third)?.token == token.binary && store.network(third)?.metadata.isEmpty == false
            }
        case .joinAllowed:
            let own = self.own.networkId
            let peer = PeerId(publicKey: self.writer.publicKey)
            let invitation = Invitation(inviter: self.device, networkId: own, addresses: [], nowSeconds: madeAt)
            let request = JoinRequest(
                invitation: invitation.id,
                peer: peer,
                network: own,
                digits: "123456",
                isPreallowed: true,
                connection: 1
            )
            return Sample(change: .joinAllowed(request), needsDriver: true) {
                try $0.issuedToken(of: peer, in: own) != nil
            }
        case .memberSecrets, .tokenRenewed, .renewal: return try self.tokenSample(of: kind)
        case .record, .recordForgotten: return try self.recordSample(of: kind)
        case .heldMail, .mailDeletion, .mailProgress, .mailRelays: return self.mailSample(of: kind)
        case .mailReading, .mailReception: return nil
        }
    }

    private func tokenSample(of kind: NodeDriver.Persistence.Kind) throws -> Sample? {
        let (network, own, member, madeAt) = (self.other.networkId, self.own.networkId, self.member, self.madeAt)
        if kind == .memberSecrets {
            let key = try self.owner.networkKey(of: network).privateKey
            let secret = try MemberSecret.create(networkId: network, signer: key, epoch: madeAt + 1)
            return Sample(change: .memberSecrets(MemberSecrets(secret))) {
                try $0.rendezvous(of: network) == secret.rendezvous.publicKey
            }
        }
        let day = Date(timeIntervalSince1970: Double(madeAt + 86_400))
        if kind == .tokenRenewed {
            let token = try self.owner.issueToken(for: self.device, in: network, expiration: day)
            return Sample(change: .tokenRenewed(token)) { try $0.network(network)?.token == token.binary }
        }
        let token = try self.owner.issueToken(for: member, in: network, expiration: day)
        let request = RenewalRequest(peer: member, network: own, token: token, connection: ConnectionId(1))
        return Sample(change: .renewalRequested(request), needsDriver: true) {
            try $0.issuedToken(of: member, in: own)?.expiration ?? 0 > madeAt + 3_600
        }
    }

    private func recordSample(of kind: NodeDriver.Persistence.Kind) throws -> Sample? {
        let (network, before) = (self.other.networkId, self.record.binary)
        if kind == .recordForgotten {
            let location = Record.location(of: self.record.key, in: network)
            let id = RecordId(location: location, writer: self.record.writer)
            return Sample(change: .recordForgotten(network, id)) { try !$0.records(of: network).contains(before) }
        }
        let end = self.madeAt + 86_400
        let record = try Self.makeRecord("new", self.writer, self.owner, in: network, until: end)
        return Sample(change: .record(network, record)) {
            try $0.records(of: network).contains(record.binary) && $0.records(of: network).contains(before)
        }
    }

    private func mailSample(of kind: NodeDriver.Persistence.Kind) -> Sample? {
        let (network, before) = (self.other.networkId, self.held.id.bytes)
        if kind == .mailDeletion {
            return Sample(change: .mail(network, .delete([self.held.id]))) {
                try $0.mails(in: .held, of: network).isEmpty
            }
        }
        if kind == .mailProgress {
            return Sample(change: .mail(network, .progressed(self.outgoing.id, .delivered))) {
                try $0.mails(in: .outgoing, of: network).isEmpty
            }
        }
        if kind == .mailRelays {
            let relay = self.member
            return Sample(change: .mail(network, .readOutgoing(self.outgoing.id, relays: [relay]))) {
                try $0.mails(in: .outgoing, of: network).first?.relays == [relay]
            }
        }
        let mail = Mail(to: self.held.mailbox, expirationSeconds: self.madeAt + 86_400, body: [3])
        let change = NodeDriver.Persistence.mail(network, .hold(mail, Self.description(of: mail, from: self.member)))
        return Sample(change: change) {
            try Set($0.mails(in: .held, of: network).map(\.mailId)) == [before, mail.id.bytes]
        }
    }
}
