internal import Concurrency
internal import Foundation
internal import Identity
internal import OneTimeKeys
internal import Platform
internal import RunarNode
internal import SealedMessages
internal import TestSupport
internal import Testing

@testable internal import Circle

/// Four devices of one network, two of which exchange everything that devices exchange.
///
/// Ada owns the network, and a second one to which only Dan belongs. Ada and Ben trust each other. Cam is the member that holds
/// Ben's mail; so Dan relays it.
struct ObserverScene {
    let ada: ObservedDevice
    let ben: ObservedDevice
    let cam: ObservedDevice
    let dan: ObservedDevice
    let network: NetworkId
    let secondNetwork: NetworkId
    /// The place of the files outside of the homes.
    private let directory: String

    var devices: [ObservedDevice] { [ada, ben, cam, dan] }

    /// Runs the devices until both networks are connected, and stops them after `body`.
    static func run(over carrier: Carrier, _ body: (ObserverScene) async throws -> Void) async throws {
        let home = try TemporaryDataDirectory()
        try SystemFileSystem().makeDirectory(home.path, mode: 0o700)
        let devices = try ["ada", "ben", "cam", "dan"].map { try ObservedDevice($0, in: home.path, over: carrier) }
        let owner = devices[0]
        let (first, second) = (
            try owner.node.createNetwork(name: "Harbour"), try owner.node.createNetwork(name: "Lighthouse")
        )
        for device in devices { try await device.node.start() }
        let memberships = devices.dropFirst().map { ($0, first) } + [(devices[3], second)]
        for (device, metadata) in memberships {
            let token = try owner.node.issueToken(for: device.peerId, in: metadata.networkId, expiration: nil)
            try await device.node.joinNetwork(networkId: metadata.networkId, accessToken: token)
            try device.node.addNetwork(metadata)
        }
        let scene = ObserverScene(
            ada: owner,
            ben: devices[1],
            cam: devices[2],
            dan: devices[3],
            network: first.networkId,
            secondNetwork: second.networkId,
            directory: home.path
        )
        let result: Result<Void, any Error>
        do {
            try await scene.connectAll()
            result = .success(try await body(scene))
        } catch {
            result = .failure(error)
        }
        for device in devices { await device.stop() }
        try result.get()
    }

    private func connectAll() async throws {
        for device in [ben, cam, dan] { try await connect(device, to: ada) }
        try await connect(dan, to: ada, in: secondNetwork)
        try await connect(cam, to: dan)
        try await connect(cam, to: ben)
        try await connect(dan, to: ben)
    }

    private func connect(_ one: ObservedDevice, to other: ObservedDevice, in chosen: NetworkId? = nil) async throws {
        let network = chosen ?? network
        let events = other.node.eventStream
        let address = try #require(other.node.listenAddresses.first).description
        _ = try await one.node.connectToPeer(peerId: other.peerId, networkId: network, address: address)
        if other.node.connectedPeers(in: network).contains(one.peerId) { return }
        for await event in events where event == .peerJoined(one.peerId, network) { return }
    }

    // MARK: The exchange

    /// Exchanges a message, a request, a file, cards and a thought between Ada and Ben, and publishes an event and a value
    /// of Ada.
    func exchange() async throws {
        try await talk()
        try await publish()
        try await makeTrust()
        let thought = try await ada.circle.say(Texts.thought, to: #require(ada.person(of: ben)).id)
        try await ada.wait { try $0.circle.thought(thought.publicID).state ?? .waiting >= .delivered }
    }

    private func talk() async throws {
        let messages = ben.node.startListening()
        try await ada.node.sendToPeer(Texts.message, peerId: ben.peerId)
        for await _ in messages { break }

        let service = RunarService(name: "Tides", path: "tides", version: "1", description: "")
        service.registerRawAction("ask") { _ in Data(Texts.answer.utf8) }
        service.networkId = network.base64Encoded
        try await ben.node.addService(service)
        let answer = try await ada.node.requestRaw(
            "\(network.text):tides/ask",
            payload: Data(Texts.question.utf8),
            encoding: nil,
            options: RequestOptions(peer: ben.peerId)
        )
        #expect(answer == Data(Texts.answer.utf8))

        let (file, received) = (FilePath.joining(directory, Texts.fileName), FilePath.joining(directory, "received"))
        try SystemFileSystem().makeDirectory(received, mode: 0o700)
        try Data(Texts.file.utf8).write(to: URL(filePath: file))
        ben.node.receiveFiles(FileReceiver { _ in received })
        try await ada.node.sendFile(at: file, peerId: ben.peerId)
    }

    private func publish() async throws {
        let heard = try [ben, cam, dan].map { try $0.node.events(networkId: network, topic: Texts.topic) }
        try await ada.node.publish(networkId: network, topic: Texts.topic, message: Data(Texts.event.utf8))
        for events in heard { for await _ in events { break } }
        let (key, value) = (Data(Texts.key.utf8), Data(Texts.value.utf8))
        try await ada.node.dhtPut(networkId: network, key: key, value: value)
        for device in [cam, dan] {
            #expect(try await device.node.dhtGet(networkId: network, key: key, cache: false) == value)
        }
    }

    private func makeTrust() async throws {
        try chooseHolder()
        try await ada.circle.setProfile(name: Texts.ada)
        try await ben.circle.setProfile(name: Texts.ben)
        try await ada.circle.invite(ben.peerId)
        try await ben.wait { $0.person(of: ada)?.trust == .requested }
        try await ben.circle.accept(#require(ben.person(of: ada)).id)
        try await ada.wait { $0.person(of: ben)?.trust == .trusted }
        for (one, other) in [(ada, ben), (ben, ada)] {
            let changes = one.keys.changes
            if one.keys.relationship(with: other.peerId)?.state == .completed { continue }
            for await change in changes where change.peer == other.peerId && change.state == .completed { break }
        }
    }

    /// Names Cam in the card of Ben as the member that holds Ben's mail.
    private func chooseHolder() throws {
        let driver = ben.circle.driver
        let key = driver.personKey
        let card = try ProfileCard(
            Profile(id: Profile.id(ofPerson: key.publicKey), name: Texts.ben),
            devices: [driver.ownEntry()],
            homes: [cam.peerId],
            issuedSeconds: 1,
            signedBy: key
        )
        driver.state.withLock { $0.ownCard = card }
    }

    // MARK: Held mail

    /// Stops the node of Ben and sends a thought of Ada, until a member holds it.
    func holdMail() async throws {
        let left = ada.node.eventStream
        await ben.node.stop()
        for await event in left { if case .peerLeft(ben.peerId, network, _) = event { break } }
        let thought = try await ada.circle.say(Texts.held, to: #require(ada.person(of: ben)).id)
        try await ada.wait { try $0.circle.thought(thought.publicID).state == .stored }
    }

    /// Starts the node of Ben again, until it has its mail from Cam.
    func collectMail() async throws {
        try await ben.node.start()
        try await connect(ben, to: cam)
        try await ben.wait { try $0.thoughts(with: ada).contains { $0.model.text == Texts.held } }
    }
}

/// The words of a scene, none of which occurs by chance.
enum Texts {
    static let ada = "Ada of the northern lighthouse"
    static let ben = "Ben of the southern harbour"
    static let message = "the boat leaves at half past six"
    static let question = "which tide carries the cargo"
    static let answer = "the spring tide of Thursday carries it"
    static let fileName = "chart-of-the-reef.txt"
    static let file = "soundings in fathoms along the reef"
    static let topic = "weather/bay-of-lanterns"
    static let event = "fog lies over the whole bay"
    static let key = "cargo-of-the-blue-boat"
    static let value = "forty crates of bitter oranges"
    static let thought = "meet me under the old crane"
    static let held = "bring the lantern and the rope"
}

/// The goods for which observers of a scene are searched.
enum Needle: CaseIterable {
    case message, question, answer, fileName, file
    case topic, event, key, value
    case adaName, benName, adaCard, benCard, adaPerson, benPerson
    case thought, held, thoughtIDs
    case ada, ben, cam, dan
    case network, secondNetwork

    /// The content of exchanges between two devices.
    static let direct: Set<Needle> = [.message, .question, .answer, .fileName, .file]
    /// The content that a network shares.
    static let shared: Set<Needle> = [.topic, .event, .key, .value]
    /// The people, with their cards and the ids of their thoughts.
    static let people: Set<Needle> = [.adaName, .benName, .adaCard, .benCard, .adaPerson, .benPerson, .thoughtIDs]
    static let thoughts: Set<Needle> = [.thought, .held]
    static let members: Set<Needle> = [.ada, .ben, .cam, .dan]
}

extension ObserverScene {
    /// The bytes of each needle in each of its forms.
    func needles() throws -> [Needle: [[UInt8]]] {
        let cards = (try #require(ada.circle.card), try #require(ben.circle.card))
        var needles: [Needle: [[UInt8]]] = [
            .adaCard: [Array(cards.0.bytes.prefix(64)), cards.0.bytes],
            .benCard: [Array(cards.1.bytes.prefix(64)), cards.1.bytes],
            .adaPerson: [cards.0.publicID.bytes, Array(cards.0.publicID.text.utf8)],
            .benPerson: [cards.1.publicID.bytes, Array(cards.1.publicID.text.utf8)],
            .thoughtIDs: try ada.thoughts(with: ben).flatMap { [$0.publicID.bytes, Array($0.publicID.text.utf8)] },
        ]
        let texts: [(Needle, String)] = [
            (.message, Texts.message), (.question, Texts.question), (.answer, Texts.answer),
            (.fileName, Texts.fileName), (.file, Texts.file), (.topic, Texts.topic), (.event, Texts.event),
            (.key, Texts.key), (.value, Texts.value), (.adaName, Texts.ada), (.benName, Texts.ben),
            (.thought, Texts.thought), (.held, Texts.held),
        ]
        for (needle, text) in texts { needles[needle] = [Array(text.utf8)] }
        let devices: [(Needle, ObservedDevice)] = [(.ada, ada), (.ben, ben), (.cam, cam), (.dan, dan)]
        for (needle, device) in devices {
            let id = device.peerId
            needles[needle] = [id.bytes, Array(id.text.utf8), Array(id.base64Encoded.utf8)]
        }
        let networks: [(Needle, NetworkId)] = [(.network, network), (.secondNetwork, secondNetwork)]
        for (needle, id) in networks {
            needles[needle] = [id.bytes, Array(id.text.utf8), Array(id.base64Encoded.utf8)]
        }
        #expect(needles.count == Needle.allCases.count)
        return needles
    }
}
