internal import Bytes
internal import Concurrency
internal import Foundation
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import OneTimeKeys
@testable internal import RunarNode
@testable internal import SealedMessages

@Suite("Sealed messages between nodes", .timeLimit(.minutes(15))) struct KeyStoreManagerTests {
    /// A node with its keys, in memory or in a folder.
    private struct Device {
        let node: RunarNode
        let keys: KeyStoreManager

        init(in network: InMemoryNetwork, storage: InMemoryKeyStorage = .init(), folder: String? = nil) throws {
            let config = RunarNodeConfig.createTestConfig()
            config.keyStorage = storage
            config.statePath = folder.map { FilePath.joining($0, "state.sqlite") }
            config.logLevel = .error
            node = try RunarNode(config: config) { key, _ in
                try network.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
            }
            keys = try KeyStoreManager(node: node, capacity: 16)
        }

        var peerId: PeerId { node.peerId }
    }

    /// Runs two connected members.
    private func withDevices(
        folders: [String?] = [nil, nil],
        _ body: (Device, Device) async throws -> Void
    ) async throws {
        let network = InMemoryNetwork(seed: 5)
        let (owner, member) = (try Device(in: network, folder: folders[0]), try Device(in: network, folder: folders[1]))
        let metadata = try owner.node.createNetwork(name: "Home")
        for device in [owner, member] { try await device.node.start() }
        let token = try owner.node.issueToken(for: member.peerId, in: metadata.networkId, expiration: nil)
        try await member.node.joinNetwork(networkId: metadata.networkId, accessToken: token)
        try member.node.addNetwork(metadata)
        let events = owner.node.eventStream
        let address = owner.node.listenAddresses.first?.description ?? ""
        _ = try await member.node.connectToPeer(peerId: owner.peerId, networkId: metadata.networkId, address: address)
        for await event in events where event == .peerJoined(member.peerId, metadata.networkId) { break }
        let result: Result<Void, any Error>
        do { result = .success(try await body(owner, member)) } catch { result = .failure(error) }
        for device in [member, owner] { await device.node.stop() }
        try result.get()
    }

    @Test func `a message is stored before its key is erased, and a stored one's key is erased later`() async throws {
        struct DiskFull: Error {}
        try await withDevices { one, other in
            try await one.keys.exchangeKeys(with: other.peerId)
            let message = try await one.keys.seal([7], to: other.peerId)
            #expect(other.keys.peer(ofKey: message.keyName) == one.peerId)
            #expect(one.keys.peer(ofKey: message.keyName) == nil)
            #expect(other.keys.deviceKey(of: one.peerId).map(PeerId.init(publicKey:)) == one.peerId)
            await #expect(throws: DiskFull.self) {
                try await other.keys.open(message, from: one.peerId) { _ in throw DiskFull() }
            }
            // The key is whole: the message opens.
            #expect(try await other.keys.open(message, from: one.peerId, storing: { _ in }) == [7])

            let second = try await one.keys.seal([8], to: other.peerId)
            try await other.keys.eraseKey(of: second, from: one.peerId)
            try await other.keys.eraseKey(of: second, from: one.peerId)
            await #expect(throws: OneTimeKeyError.keyUsed) { try await other.keys.open(second, from: one.peerId) }
        }
    }

    @Test func `two nodes exchange keys, and send each other sealed messages`() async throws {
        try await withDevices { one, other in
            let relationship = try await one.keys.exchangeKeys(with: other.peerId)
            #expect(relationship.state == .completed && relationship.sendingKeyCount == 16)
            #expect(relationship.safetyNumber != nil)
            // The exchange may end on that side later.
            try await other.keys.wait(for: one.peerId) { $0.state == .completed }
            #expect(other.keys.relationship(with: one.peerId)?.safetyNumber == relationship.safetyNumber)
            for (sender, recipient) in [(one, other), (other, one)] {
                var deliveries = recipient.keys.startListening().makeAsyncIterator()
                for number in UInt8(0)..<3 {
                    try await sender.keys.send([number], to: recipient.peerId)
                    let delivery = await deliveries.next()
                    #expect(delivery == SealedDelivery(peer: sender.peerId, message: [number]))
                }
                #expect(sender.keys.relationship(with: recipient.peerId)?.sendingKeyCount == 13)
                #expect(recipient.keys.relationship(with: sender.peerId)?.receivingKeyCount == 13)
            }
        }
    }

    @Test func `content is sealed to the recipient's pool or to a key access service, and never to the other one`()
        async throws
    {
        try await withDevices { one, other in
            let service = try NanoTDFPrivateKey(generatedOn: .secp256r1)
            let locator = try ResourceLocator(url: "https://kas.example")
            let byService = KeyAccess.service(service.publicKey, locator)
            let policy = NanoTDFSealer.Policy.plain([1])
            await #expect(throws: SealedMessageError.noKeys(other.peerId)) {
                try await one.keys.seal([7], by: .recipient(other.peerId), policy: policy)
            }
            let shared = try await one.keys.seal([7], by: byService, policy: policy)
            #expect(try NanoTDF(shared).header.keyAccess == locator)
            try await one.keys.exchangeKeys(with: other.peerId)
            #expect(try await other.keys.open(shared, from: one.peerId, serviceKey: service) == [7])
            await #expect(throws: SealedMessageError.noServiceKey) {
                try await other.keys.open(shared, from: one.peerId, serviceKey: nil)
            }
            let large = [UInt8](repeating: 7, count: 2 << 20)
            let sealed = try await one.keys.seal(large, by: byService, policy: policy)
            #expect(try await other.keys.open(sealed, from: one.peerId, serviceKey: service) == large)
            let unrelatedKey = try NanoTDFPrivateKey(generatedOn: .secp256r1)
            await #expect(throws: NanoTDFError.authenticationFailed) {
                try await other.keys.open(shared, from: one.peerId, serviceKey: unrelatedKey)
            }

            let own = try await one.keys.seal([8], by: .recipient(other.peerId), policy: policy)
            #expect(try await other.keys.open(own, from: one.peerId, serviceKey: service) == [8])
            await #expect(throws: OneTimeKeyError.keyUsed) {
                try await other.keys.open(own, from: one.peerId, serviceKey: service)
            }
            await #expect(throws: NanoTDFError.self) {
                try await other.keys.open([1, 2, 3], from: one.peerId, serviceKey: service)
            }
        }
    }

    @Test func `a message to a device that has deleted its keys is refused, and one to an absent device costs no key`()
        async throws
    {
        try await withDevices { one, other in
            try await one.keys.exchangeKeys(with: other.peerId)
            let deliveries = other.keys.startListening()
            try await other.keys.removeKeys(of: one.peerId)
            await #expect(throws: SealedMessageError.peerHasNoKey(other.peerId)) {
                try await one.keys.send([1], to: other.peerId)
            }
            let count = one.keys.relationship(with: other.peerId)?.sendingKeyCount
            let left = one.node.eventStream
            await other.node.stop()
            for await event in left { if case .peerLeft(other.peerId, _, _) = event { break } }
            await #expect(throws: NodeError.self) { try await one.keys.send([1], to: other.peerId) }
            #expect(one.keys.relationship(with: other.peerId)?.sendingKeyCount == count)
            withExtendedLifetime(deliveries) {}
        }
    }

    @Test func `changes are reported once, and messages of an exchange that change nothing are not`() async throws {
        try await withDevices { one, other in
            try await one.keys.exchangeKeys(with: other.peerId)
            let network = try #require(one.node.networks().first?.networkId)
            var changes = one.keys.changes.makeAsyncIterator()
            for junk in [Data(), Data([1, 2, 3])] {
                let path = "\(network.text):$keys/exchange"
                let options = RequestOptions(peer: one.peerId)
                _ = try await other.node.requestRaw(path, payload: junk, encoding: nil, options: options)
            }
            _ = try await one.keys.seal([1], to: other.peerId)
            #expect(await changes.next()?.sendingKeyCount == 15)
            try await one.keys.removeKeys(of: other.peerId)
            #expect(await changes.next()?.sendingKeyCount == 0)
        }
    }

    @Test func `a completed exchange ends the wait for it once it is reported`() async throws {
        try await withDevices { one, other in
            try await one.keys.exchangeKeys(with: other.peerId)
            let driver = one.keys.driver
            let state = try driver.existing(other.peerId).state.withLock { $0 }
            // A copy, which no task of the exchange changes.
            let relationship = KeyExchangeDriver.Relationship(other.peerId, state)
            #expect(try driver.outcome(of: relationship)?.state == .completed)
            relationship.state.withLock { $0.reported = nil }
            #expect(try driver.outcome(of: relationship) == nil)
            driver.noteChange(of: relationship)
            #expect(try driver.outcome(of: relationship)?.state == .completed)
        }
    }

    @Test func `a step of an exchange that ends after its peer was refused leaves no keys`() async throws {
        let folder = try TemporaryDirectory()
        try await withDevices(folders: [folder.path, nil]) { one, other in
            try await one.keys.exchangeKeys(with: other.peerId)
            one.keys.setRefused(true, other.peerId)
            // As if a message had been taken before.
            await #expect(throws: SealedMessageError.noKeys(other.peerId)) {
                try await one.keys.exchangeKeys(with: other.peerId)
            }
            #expect(one.keys.relationship(with: other.peerId) == nil)
            let pools = FilePath.joining(FilePath.joining(folder.path, "one-time-keys"), one.peerId.text)
            #expect(try SystemFileSystem().names(in: pools).isEmpty)
            one.keys.setRefused(false, other.peerId)
            #expect(try await one.keys.exchangeKeys(with: other.peerId).sendingKeyCount == 16)
        }
    }

    @Test func `a message that nothing takes stays sealed`() async throws {
        try await withDevices { one, other in
            let changes = other.keys.changes
            try await one.keys.exchangeKeys(with: other.peerId)
            await #expect(throws: SealedMessageError.notReceived) {
                try await one.keys.send([1], to: other.peerId)
            }
            // The exchange may end on that side later.
            for await change in changes where change.state == .completed { break }
            #expect(other.keys.relationship(with: one.peerId)?.receivingKeyCount == 16)
        }
    }

    @Test func `without keys nothing is sent in clear instead`() async throws {
        try await withDevices { one, other in
            var sealed = other.keys.startListening().makeAsyncIterator()
            var plain = other.node.startListening().makeAsyncIterator()
            await #expect(throws: SealedMessageError.noKeys(other.peerId)) {
                try await one.keys.send([1], to: other.peerId)
            }
            // The first message to arrive is the next one sent.
            try await one.node.sendToPeer("plain", peerId: other.peerId)
            #expect(try await plain.next().map { try Bincode.deserialize(String.self, from: $0.1) } == "plain")
            try await one.keys.exchangeKeys(with: other.peerId)
            try await one.keys.send([2], to: other.peerId)
            #expect(await sealed.next()?.message == [2])
        }
    }

    @Test func `keys that one device deleted are exchanged anew`() async throws {
        try await withDevices { one, other in
            for _ in 0..<2 { try await one.keys.exchangeKeys(with: other.peerId) }
            try await one.keys.removeKeys(of: other.peerId)
            #expect(one.keys.relationship(with: other.peerId) == nil)
            let renewed = try await one.keys.exchangeKeys(with: other.peerId)
            #expect(renewed.sendingKeyCount == 16)
            var deliveries = other.keys.startListening().makeAsyncIterator()
            try await one.keys.send([3], to: other.peerId)
            #expect(await deliveries.next()?.message == [3])
        }
    }

    @Test func `the largest message arrives, and a larger one costs no key`() async throws {
        try await withDevices { one, other in
            try await one.keys.exchangeKeys(with: other.peerId)
            var deliveries = other.keys.startListening().makeAsyncIterator()
            let limit = SealedMessage.plaintextByteLimit
            await #expect(throws: OneTimeKeyError.tooLarge(limit: limit, found: limit + 1)) {
                try await one.keys.send([UInt8](repeating: 1, count: limit + 1), to: other.peerId)
            }
            #expect(one.keys.relationship(with: other.peerId)?.sendingKeyCount == 16)
            try await one.keys.send([UInt8](repeating: 1, count: limit), to: other.peerId)
            #expect(await deliveries.next()?.message.count == limit)
        }
    }

    @Test func `a node has one manager at a time`() throws {
        let node = try RunarNode(config: .createTestConfig())
        var manager: KeyStoreManager? = try KeyStoreManager(node: node)
        #expect(throws: SealedMessageError.managerExists) { try KeyStoreManager(node: node) }
        #expect(manager?.relationships.isEmpty == true)
        manager = nil
        #expect(throws: Never.self) { try KeyStoreManager(node: node) }
    }

    @Test func `a pool that runs low is refilled`() async throws {
        try await withDevices { one, other in
            try await one.keys.exchangeKeys(with: other.peerId)
            var deliveries = other.keys.startListening().makeAsyncIterator()
            for number in UInt8(0)..<40 {
                try await one.keys.send([number], to: other.peerId)
                #expect(await deliveries.next()?.message == [number])
                guard one.keys.relationship(with: other.peerId)?.isLow == true else { continue }
                try await one.keys.wait(for: other.peerId) { !$0.isLow }
            }
            #expect(one.keys.relationship(with: other.peerId)?.safetyNumber != nil)
        }
    }

    @Test func `the safety number is compared, and a new exchange has a new one`() async throws {
        try await withDevices { one, other in
            let number = try #require(try await one.keys.exchangeKeys(with: other.peerId).safetyNumber)
            let wrong = try #require(SafetyNumber(String(repeating: "0", count: 60)))
            await #expect(throws: SealedMessageError.wrongSafetyNumber) {
                try await other.keys.verify(wrong, with: one.peerId)
            }
            try await other.keys.verify(number, with: one.peerId)
            #expect(other.keys.relationship(with: one.peerId)?.isVerified == true)
            let renewed = try await one.keys.exchangeKeys(with: other.peerId)
            #expect(renewed.safetyNumber != number)
            try await other.keys.wait(for: one.peerId) { $0.safetyNumber == renewed.safetyNumber && !$0.isVerified }
        }
    }

    @Test func `a caller fails when its node stops, and the exchange waits for the next start`() async throws {
        try await withDevices { one, other in
            await other.keys.end()
            let exchange = Task { [keys = one.keys] in try await keys.exchangeKeys(with: other.peerId) }
            try await one.keys.wait(for: other.peerId) { $0.state == .requestSent }
            await one.node.stop()
            await #expect(throws: SealedMessageError.notConnected(other.peerId)) { try await exchange.value }
            #expect(one.keys.relationship(with: other.peerId)?.state == .requestSent)
        }
    }

    @Test func `keys outlive their process, and used ones stay used`() async throws {
        let home = try TemporaryDataDirectory()
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
        let folder = home.path
        let storage = InMemoryKeyStorage()
        let network = InMemoryNetwork(seed: 6)
        let peer = generatePeerKey()
        let peerId = PeerId(publicKey: peer.publicKey)
        let message: SealedMessage
        do {
            let device = try Device(in: network, storage: storage, folder: folder)
            let (pool, publicKeys) = try KeyStore.generate(.p256, capacity: 4)
            let files = KeyStoreFiles(
                directory: DevicePools.directory(of: device.peerId, in: folder),
                key: KeyDerivation.deriveKeyStoreKey(peerKey: try device.node.deviceKey().privateKey),
                fileSystem: SystemFileSystem()
            )
            try files.add(pool, for: peerId)
            try files.save(publicKeys, of: peerId)
            var keys = publicKeys
            message = try keys.takeKey().seal([7], to: device.peerId)
        }
        do {
            let device = try Device(in: network, storage: storage, folder: folder)
            #expect(device.keys.relationship(with: peerId)?.sendingKeyCount == 4)
            #expect(try await device.keys.open(message, from: peerId) == [7])
            _ = try await device.keys.seal([8], to: peerId)
        }
        let device = try Device(in: network, storage: storage, folder: folder)
        await #expect(throws: OneTimeKeyError.keyUsed) { try await device.keys.open(message, from: peerId) }
        // The reservation covers the whole pool: keys may be lost in a crash, and are not used twice.
        #expect(device.keys.relationship(with: peerId)?.sendingKeyCount == 0)
        await #expect(throws: OneTimeKeyError.noKeysAvailable) { _ = try await device.keys.seal([9], to: peerId) }
        try await device.keys.removeKeys(of: peerId)
        let directory = DevicePools.directory(of: device.peerId, in: folder)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }
}

extension KeyStoreManager {
    /// Waits until the relationship with a peer is as it should be.
    fileprivate func wait(for peer: PeerId, until isReached: (KeyRelationship) -> Bool) async throws {
        let changes = changes
        if let relationship = relationship(with: peer), isReached(relationship) { return }
        for await relationship in changes where relationship.peer == peer && isReached(relationship) { return }
        throw CancellationError()
    }
}
