internal import Foundation
internal import Identity
internal import OneTimeKeys

@testable internal import Circle

/// The decoders of a circle: an accepted input is written again with the same bytes.
struct CircleFuzz {
    private static let signatureByteCount = 64

    /// The key of the vectors' person, who signs cards and letters here.
    private let key: Ed25519KeyPair
    private let device: PeerId
    private let friend: PeerId
    private let router: ArkavoMessageRouter

    init() throws {
        key = Ed25519KeyPair(
            privateKey: try Ed25519PrivateKey(rawRepresentation: [UInt8](repeating: 1, count: 32))
        )
        let device = try PeerId(rawRepresentation: [UInt8](repeating: 3, count: PeerId.byteCount))
        let friend = try PeerId(rawRepresentation: [UInt8](repeating: 9, count: PeerId.byteCount))
        self.device = device
        self.friend = friend
        // Every second name is that of a key for the friend, in each run the same ones.
        router = ArkavoMessageRouter(of: device) { name in
            (name.description.utf8.first ?? 0).isMultiple(of: 2) ? friend : nil
        }
    }

    // MARK: Cards

    func readCard(_ bytes: [UInt8]) {
        guard let card = try? ProfileCard(bytes) else { return }  // refused
        precondition(card.bytes == bytes, "a card is written differently than it was read")
        precondition(made { try ProfileCard(text: card.text) } == card, "the text of a card is that of another one")
        guard card.key == key.publicKey else { return }
        let again = made {
            try ProfileCard(
                card.profile,
                devices: card.entries,
                homes: card.homes,
                issuedSeconds: card.issuedSeconds,
                signedBy: key
            )
        }
        precondition(
            again.bytes.dropFirst(Self.signatureByteCount) == bytes.dropFirst(Self.signatureByteCount),
            "the fields of a card are written differently than they were read"
        )
    }

    /// Signs the fields of a card, and reads the card.
    func readCardFields(_ fields: [UInt8]) {
        let message = DomainLabel("runar/profile-card/v1").message(fields)
        readCard(made { try Ed25519Signature(of: message, by: key.privateKey) }.bytes + fields)
    }

    func readCardText(_ bytes: [UInt8]) {
        guard let card = try? ProfileCard(text: String(decoding: bytes, as: UTF8.self)) else { return }  // refused
        readCard(card.bytes)
    }

    // MARK: Letters

    func readLetter(_ bytes: [UInt8]) {
        guard let letter = try? Letter(bytes, to: device, from: key.publicKey) else { return }  // refused
        precondition(letter.bytes == bytes, "a letter is written differently than it was read")
        let again = made {
            try Letter(
                letter.kind,
                body: letter.body,
                content: letter.content,
                sentMilliseconds: letter.sentMilliseconds,
                to: device,
                signedBy: key.privateKey
            )
        }
        // Signatures of some systems differ each time; all have one length.
        precondition(again.bytes.count == bytes.count, "a letter is written with another length than it was read")
    }

    func readReceipt(_ bytes: [UInt8]) {
        guard let receipt = try? Receipt(bytes) else { return }  // refused
        let again = made { try Receipt(receipt.state, of: receipt.thoughts) }
        precondition(again.bytes == bytes, "a receipt is written differently than it was read")
    }

    func readStream(_ bytes: [UInt8]) {
        guard let description = try? StreamDescription(bytes) else { return }  // refused
        precondition(description.bytes == bytes, "a description is written differently than it was read")
        precondition(description.members.count <= Stream.memberLimit + 1, "a stream has too many members")
    }

    func readNotice(_ bytes: [UInt8]) {
        if let notice = try? ParticipationNotice(bytes) {  // refused
            let again = made { try ParticipationNotice(notice.participation, in: notice.stream) }
            precondition(again.bytes == bytes, "a notice is written differently than it was read")
        }
        guard let notice = try? TrustNotice(bytes) else { return }  // refused
        let again = made { try TrustNotice(notice.trust, in: notice.card, changedSeconds: notice.changedSeconds) }
        precondition(again.bytes == bytes, "a notice is written differently than it was read")
    }

    func readThought(_ bytes: [UInt8]) {
        guard let thought = try? ThoughtServiceModel(bytes) else { return }  // refused
        let again = made {
            try ThoughtServiceModel(
                creatorPublicID: thought.creatorPublicID,
                streamPublicID: thought.streamPublicID,
                mediaType: thought.mediaType,
                createdAtMilliseconds: thought.createdAtMilliseconds,
                content: thought.content,
                contentType: thought.contentType,
                fileName: thought.fileName,
                salt: thought.salt
            )
        }
        precondition(again.bytes == bytes, "a thought is written differently than it was read")
        precondition(again.publicID == thought.publicID, "a thought has two ids")
        precondition(!thought.mediaType.isText || thought.text != nil, "a text is accepted and is not UTF-8")
    }

    func readEnvelope(_ bytes: [UInt8]) {
        guard let envelope = try? Envelope(padded: bytes) else { return }  // refused
        precondition(envelope.padded == bytes, "an envelope is written differently than it was read")
    }

    // MARK: Frames

    func routeFrame(_ bytes: [UInt8]) {
        for source in [.connection(friend), .connection(device), .webSocket] as [ArkavoMessageRouter.Source] {
            switch router.route(bytes, from: source) {
            case .conversation(let peer, let message):
                precondition(source != .connection(device), "a message is routed to the key of another peer")
                precondition(peer == friend && message.recipient == device, "a message is routed to another peer")
                precondition(message.bytes == bytes, "a message is written differently than it was read")
            case .unknownKey(let message):
                precondition(message.bytes == bytes, "a message is written differently than it was read")
            case .service(let file):
                precondition(file.bytes == bytes, "a file is written differently than it was read")
            case .malformed: break
            case .other(let frame):
                precondition(frame == bytes, "a frame of another kind is changed")
                precondition(!bytes.starts(with: ArkavoMessageRouter.nanoTDFMagic), "a NanoTDF is not recognised")
            }
        }
    }

    // MARK: Seeds

    /// The test vectors, and the formats that they lack: letters, receipts, bodies of mails and frames.
    func seeds(in folder: URL) throws -> [Seed] {
        let vectors = try Vectors(of: "Circle", in: folder)
        var seeds: [Seed] = []
        for bytes in try vectors.bytes("cards", "refusedCards") {
            seeds.append(Seed(format: .card, bytes: bytes))
            seeds.append(Seed(format: .cardFields, bytes: Array(bytes.dropFirst(Self.signatureByteCount))))
        }
        for bytes in try vectors.bytes("cards") {
            let notice = try TrustNotice(.trusted, in: ProfileCard(bytes), changedSeconds: 1)
            seeds.append(Seed(format: .notice, bytes: notice.bytes))
            seeds.append(Seed(format: .stream, bytes: try description(with: ProfileCard(bytes)).bytes))
            seeds.append(Seed(format: .cardText, bytes: Array(try ProfileCard(bytes).text.utf8)))
        }
        let thoughts = try vectors.bytes("thoughts")
        for bytes in try thoughts + vectors.bytes("refusedThoughts") {
            seeds.append(Seed(format: .thought, bytes: bytes))
        }
        let ids = try thoughts.map { try ThoughtServiceModel($0).publicID }
        let receipts = try Receipt.State.allCases.map { try Receipt($0, of: ids) }
        seeds += receipts.map { Seed(format: .receipt, bytes: $0.bytes) }
        for participation in Stream.Participation.allCases {
            let notice = try ParticipationNotice(participation, in: ids[0])
            seeds.append(Seed(format: .notice, bytes: notice.bytes))
        }
        let content = try SealedContent(thoughts.first ?? [])
        let (copy, keys) = try content.copy()
        let letters = [
            try letter(.thought, content: (keys, content.digest)),
            try letter(.receipt, body: receipts.first?.bytes ?? []),
            try letter(.card, body: vectors.bytes("cards").first ?? []),
        ]
        seeds += letters.map { Seed(format: .letter, bytes: $0.bytes) }
        for suite in OneTimeKeySuite.supported {
            // Some of the keys are for the friend, others are unknown.
            var pool = try KeyStore.generate(suite, capacity: 8).publicKeys
            for letter in letters + letters {
                let message = try pool.takeKey().seal(letter.bytes, to: device).bytes
                seeds.append(Seed(format: .frame, bytes: message))
                seeds.append(Seed(format: .envelope, bytes: Envelope(letter: message, copy: copy).padded))
            }
        }
        return seeds
    }

    private func description(with card: ProfileCard) throws -> StreamDescription {
        let id = UUID(version8: [1])
        let stream = Stream(
            id: id,
            creatorPublicID: card.publicID,
            profile: Profile(id: id, name: "Friends", blurb: "Of old."),
            policies: StreamPolicies(),
            isInnerCircle: true,
            sourcePublicID: card.publicID,
            members: [],
            participation: .joined,
            revision: 3
        )
        return try StreamDescription(stream, cards: [card])
    }

    private func letter(
        _ kind: Letter.Kind,
        body: [UInt8] = [],
        content: (keys: SealedContent.Keys, digest: [UInt8])? = nil
    ) throws -> Letter {
        try Letter(
            kind,
            body: body,
            content: content,
            sentMilliseconds: 1_800_000_000_000,
            to: device,
            signedBy: key.privateKey
        )
    }
}
