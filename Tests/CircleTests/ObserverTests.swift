internal import Bytes
internal import CircleStore
internal import Foundation
internal import Identity
internal import Mailbox
internal import NodeStore
internal import OneTimeKeys
internal import Platform
internal import SealedMessages
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Circle
@testable internal import RunarNode

/// Searches of all bytes that each observer of a network can read ("Who learns what" in SECURITY.md).
///
/// Each search has a counterpart that finds its needles where they must be.
@Suite("Observers of a network", .timeLimit(.minutes(15))) struct ObserverTests {
    private var memory: Carrier { .memory(InMemoryNetwork(seed: 7)) }

    /// It takes more than 2 s: it waits for handshakes, a closed connection and mail over real sockets.
    @Test func `a host on the link sees addresses, volumes and the protocol, and no content`() async throws {
        let capture = DatagramRecorder()
        try await ObserverScene.run(over: .sockets(capture)) { scene in
            try await scene.exchange()
            try await scene.holdMail()
            try await scene.collectMail()
            let needles = try scene.needles()
            let datagrams = capture.datagrams
            let captured = datagrams.reduce(into: [UInt8]()) { $0 += $1.bytes }
            #expect(occurring(needles, in: captured).isEmpty)

            // The plaintext that the nodes read from the same connections.
            let plaintext = scene.devices.reduce(into: [UInt8]()) { $0 += $1.recorder.bytes }
            #expect(captured.count > plaintext.count)
            let transported = occurring(needles, in: plaintext)
            let cards: Set<Needle> = [.adaCard, .benCard, .adaName, .benName]
            #expect(transported.isSuperset(of: Needle.direct.union(Needle.shared).union(Needle.members).union(cards)))
            #expect(transported.isSuperset(of: [.network, .secondNetwork]))
            // Thoughts are sealed inside of the connections, too, and Ben can read them.
            #expect(transported.isDisjoint(with: Needle.thoughts))
            let read = try scene.ben.thoughts(with: scene.ada).flatMap(\.model.bytes)
            #expect(occurring(needles, in: read).isSuperset(of: Needle.thoughts))

            let secrets = try privateKeys(of: scene.ada, scene.network)
            #expect(occurring(secrets, in: plaintext) == ["members"])
            #expect(occurring(secrets, in: captured).isEmpty)
            let keys = try await oneTimeKeys(of: scene.ada, for: scene.ben)
            #expect(occurring(keys, in: captured).isEmpty)
            #expect(try occurring(keys, in: scene.ada.storedBytes()) == Set(keys.keys))

            // The keys of the first packets are public.
            let opened = try InitialPackets(in: datagrams.map(\.bytes)).plaintext
            #expect(occurs(Array("runar-p2p-1".utf8), in: opened))
            #expect(occurring(needles, in: opened).isEmpty)

            let addresses = scene.devices.compactMap(\.node.listenAddresses.first)
            #expect(addresses.count == 4 && Set(datagrams.map(\.target)).isSuperset(of: addresses))
        }
    }

    @Test func `a member has what its network shares, and nothing of what two others exchange`() async throws {
        try await ObserverScene.run(over: memory) { scene in
            try await scene.exchange()
            let address = try #require(scene.ada.node.listenAddresses.first)
            let secrets = try privateKeys(of: scene.ada, scene.network)
            let keys = try await oneTimeKeys(of: scene.ada, for: scene.ben)
            await scene.cam.stop()
            await scene.dan.stop()
            let needles = try scene.needles()
            let common = Needle.shared.union(Needle.members).union([.network])
            #expect(try occurring(needles, in: everything(of: scene.cam)) == common)
            #expect(try occurring(needles, in: everything(of: scene.dan)) == common.union([.secondNetwork]))
            #expect(try scene.cam.node.knownAddresses(of: scene.ada.peerId).contains(address))
            #expect(try occurring(secrets, in: everything(of: scene.cam)) == ["members"])
            for member in [scene.cam, scene.dan] {
                #expect(try occurring(keys, in: everything(of: member)).isEmpty)
            }

            let others = try everything(of: scene.ada) + everything(of: scene.ben)
            let cards: Set<Needle> = [.adaCard, .benCard, .adaName, .benName, .adaPerson, .benPerson, .thoughtIDs]
            #expect(occurring(needles, in: others).isSuperset(of: Needle.direct.union(cards)))
            #expect(occurring(keys, in: others) == Set(keys.keys))
        }
    }

    @Test func `a holder has a mailbox, a size and a depositor, and a relay has no mail`() async throws {
        try await ObserverScene.run(over: memory) { scene in
            try await scene.exchange()
            try await scene.holdMail()
            let store = scene.cam.node.stateStore
            let mails = try store.mails(in: .held, of: scene.network)
            let mail = try #require(mails.last)
            let bodies = try store.mailBodies(of: [mail.mailId], in: .held, of: scene.network)
            let body = try #require(bodies[mail.mailId]?.body)
            let mailbox = MailboxId(of: scene.ben.peerId, in: scene.network)
            #expect(mails.allSatisfy { $0.mailbox == mailbox.bytes && $0.peerId == scene.dan.peerId })
            #expect(mail.homes.isEmpty && mail.holders.isEmpty)
            // The key and the tag of HPKE are 48 bytes.
            let paddedCount = body.count - 48
            #expect(mail.byteCount == body.count && Envelope.paddedByteCount(paddedCount) == paddedCount)

            let needles = try scene.needles()
            let row: [UInt8] = mail.mailId + mail.mailbox + mail.peerId.bytes + body
            #expect(occurring(needles, in: row) == [.dan])
            let envelope = try Envelope(body, with: scene.ben.circle.driver.mailKey, of: scene.ben.peerId)
            let letter = try SealedMessage(envelope.letter)
            #expect(letter.recipient == scene.ben.peerId)
            let name = letter.keyName.description
            let keyNames = ["key name": [try Hex.decode(name), Array(name.utf8)]]
            let content = ["mail": [Array(body.prefix(64))]]

            for device in scene.devices { await device.stop() }
            let personal = Needle.people.union(Needle.thoughts).union(Needle.direct)
            for observer in [scene.cam, scene.dan] {
                let seen = try everything(of: observer)
                #expect(occurring(needles, in: seen).isDisjoint(with: personal))
                #expect(occurring(needles, in: seen).isSuperset(of: Needle.members))
                #expect(occurring(keyNames, in: seen).isEmpty)
            }
            #expect(try occurring(keyNames, in: scene.ben.storedBytes()) == ["key name"])
            #expect(try occurring(content, in: everything(of: scene.dan)).isEmpty)
            #expect(try occurring(content, in: scene.cam.storedBytes()) == ["mail"])
            #expect(try occurring(content, in: scene.ada.storedBytes()) == ["mail"])
        }
    }

    @Test func `the home of a stopped device shows networks, members and people, and neither content nor keys`()
        async throws
    {
        try await ObserverScene.run(over: memory) { scene in
            try await scene.exchange()
            try await scene.holdMail()
            let (needles, secrets) = (try scene.needles(), try privateKeys(of: scene.ada, scene.network))
            let keys = try await oneTimeKeys(of: scene.ada, for: scene.ben)
            let thought = try #require(try scene.ada.thoughts(with: scene.ben).first)
            for device in scene.devices { await device.stop() }

            let home = try scene.ada.storedBytes()
            let visible = Needle.members.union(Needle.people).union([.network, .secondNetwork, .key, .value])
            #expect(occurring(needles, in: home) == visible)
            #expect(occurring(secrets, in: home).isEmpty)
            #expect(occurring(keys, in: home) == Set(keys.keys))
            // SQLite writes such a number in 6 bytes.
            let time = Array(bigEndian(thought.model.createdAtMilliseconds).suffix(6))
            #expect(occurs(time, in: home))
            // Nonce and tag of AES-GCM are 28 bytes.
            let stored = try CircleStore(database(of: scene.ada)).thought(thought.publicID)
            #expect(stored?.nano.count == thought.model.bytes.count + 28)
            #expect(try CircleStore(database(of: scene.ada)).people().map(\.trust) == [.trusted])
            // Cam dialled Ada.
            #expect(try !database(of: scene.cam).addresses(of: scene.ada.peerId).isEmpty)

            let received = try occurring(needles, in: scene.ben.storedBytes())
            #expect(received.isSuperset(of: [.adaCard, .benCard, .adaName, .network, .ada]))
            #expect(received.isDisjoint(with: Needle.direct.union(Needle.thoughts).union([.topic, .event])))

            // The same search finds all of them in a file that has them.
            let patterns = Array(needles.values) + Array(secrets.values)
            let stray = patterns.flatMap { $0 }.flatMap { $0 }
            try Data(stray).write(to: URL(filePath: FilePath.joining(scene.ada.home, "stray")))
            let changed = try scene.ada.storedBytes()
            #expect(occurring(needles, in: changed).count == Needle.allCases.count)
            #expect(occurring(secrets, in: changed) == Set(secrets.keys))
        }
    }

    /// All that a device read from its connections and has in its files.
    private func everything(of device: ObservedDevice) throws -> [UInt8] {
        try device.recorder.bytes + device.storedBytes()
    }

    /// The database of a stopped device, which opens without its keys.
    private func database(of device: ObservedDevice) throws -> NodeStore {
        try NodeStore(path: FilePath.joining(device.home, "state.sqlite"))
    }

    /// The name of a key that a device gave to a peer, and a piece of the public keys that the peer gave to it.
    private func oneTimeKeys(of device: ObservedDevice, for peer: ObservedDevice) async throws -> [String: [[UInt8]]] {
        let message = try await peer.keys.seal([1], to: device.peerId)
        let folder = FilePath.joining(FilePath.joining(device.home, "one-time-keys"), device.peerId.text)
        let names = try SystemFileSystem().names(in: folder)
        let file = try #require(names.first { $0.hasPrefix(peer.peerId.text) && $0.hasSuffix(".keys") })
        let keys = try #require(FileManager.default.contents(atPath: FilePath.joining(folder, file)))
        return [
            "name": [try Hex.decode(message.keyName.description)],
            "public keys": [Array([UInt8](keys)[100..<164])],
        ]
    }

    /// The private keys of a device, with the words for its root key.
    private func privateKeys(of device: ObservedDevice, _ network: NetworkId) throws -> [String: [[UInt8]]] {
        let node = device.node
        let (peer, person) = (try node.deviceKey().privateKey, try node.personKey().privateKey)
        let phrase = try node.recoveryPhrase()
        let secrets = try #require(try node.memberSecrets(of: network)).all.map(\.secret)
        return [
            "device": [bytes(peer.secret)],
            "person": [bytes(person.secret)],
            "root": [bytes(phrase.masterKey.secret)],
            "phrase": [Array(phrase.words.joined(separator: " ").utf8)],
            "network": [bytes(try node.networkKey(of: network).privateKey.secret)],
            "members": secrets.map(bytes),
            "history": [bytes(KeyDerivation.deriveHistoryKey(personKey: person))],
            "one-time keys": [bytes(KeyDerivation.deriveKeyStoreKey(peerKey: peer))],
        ]
    }

    private func bytes(_ secret: SecretBytes) -> [UInt8] { secret.withBytes { $0 } }

    private func bigEndian(_ number: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.write(number)
        return writer.bytes
    }
}
