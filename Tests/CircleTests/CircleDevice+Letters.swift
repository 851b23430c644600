internal import Bytes
internal import CircleStore
internal import Concurrency
internal import Identity
internal import Mailbox
internal import SealedMessages
internal import Testing

@testable internal import Circle

// Letters that a test writes and gives to a device itself, so that it decides on their order.
extension CircleDevice {
    /// Seals a letter of this device in a mail for another one, which the node does not send.
    func mail(
        _ kind: Letter.Kind,
        body: [UInt8] = [],
        content: [UInt8]? = nil,
        to other: CircleDevice,
        in network: NetworkId
    ) async throws -> Mail {
        let driver = circle.driver
        var (copy, parts): ([UInt8], (keys: SealedContent.Keys, digest: [UInt8])?) = ([], nil)
        if let content {
            let sealed = try SealedContent(content)
            let made = try sealed.copy()
            copy = made.bytes
            parts = (keys: made.keys, digest: sealed.digest)
        }
        let letter = try Letter(
            kind,
            body: body,
            content: parts,
            sentMilliseconds: driver.milliseconds,
            to: other.peerId,
            signedBy: driver.deviceKey.privateKey
        )
        let envelope = Envelope(letter: try await keys.seal(letter.bytes, to: other.peerId).bytes, copy: copy)
        return Mail(
            to: MailboxId(of: other.peerId, in: network),
            expirationSeconds: driver.milliseconds / 1_000 + CircleDriver.lifetimeSeconds,
            body: try #require(envelope.seal(to: other.circle.driver.mailKey.publicKey, of: other.peerId))
        )
    }

    /// Seals a thought of this device's person in a mail for another device.
    func mail(
        _ content: [UInt8],
        _ mediaType: MediaType = .say,
        in stream: PublicID,
        to other: CircleDevice,
        in network: NetworkId
    ) async throws -> Mail {
        let thought = try ThoughtServiceModel(
            creatorPublicID: personId,
            streamPublicID: stream,
            mediaType: mediaType,
            createdAtMilliseconds: circle.driver.milliseconds,
            content: content
        )
        return try await mail(.thought, content: thought.bytes, to: other, in: network)
    }

    /// Takes a mail as if a holder had sent it; nil if the holder must send it again.
    func take(_ mail: Mail, in network: NetworkId) async throws -> Reception? {
        try await circle.driver.take(mail, in: network)
    }

    /// Expects that another device is owed no letter, once those that are being sent are settled.
    func expectNothingOwed(to other: CircleDevice) async throws {
        let owed = try await circle.driver.mutex.withLock { try node.circleStore.owedLetters(to: other.peerId) }
        #expect(owed.isEmpty)
    }

    /// The number of mails that wait for another letter.
    var waitingCount: Int { circle.driver.state.withLock { $0.waiting.count } }
}

extension CardDevice {
    /// An entry of a card for a new device, signed for the person with a key.
    static func new(of person: Ed25519KeyPair) throws -> CardDevice {
        try CardDevice(
            of: person.publicKey,
            mailKey: SealingKeyPair(SecretBytes(copying: [UInt8](repeating: 3, count: 32))).publicKey,
            signedSeconds: 1,
            signedBy: generatePeerKey().privateKey
        )
    }
}

extension Circle.Stream {
    /// The inner circle of another person, unknown to every device.
    static var unknown: Circle.Stream {
        let creator = PublicID(hash: [1])
        let id = DefaultStream.innerCircle.id(of: creator)
        return Circle.Stream(
            id: id,
            creatorPublicID: creator,
            profile: Profile(id: id, name: "Friends"),
            policies: StreamPolicies(),
            isInnerCircle: true,
            sourcePublicID: nil,
            members: [],
            participation: .joined,
            revision: 1
        )
    }
}
