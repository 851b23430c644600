internal import Bytes
internal import Foundation
internal import Identity
internal import OneTimeKeys
internal import TestSupport
internal import Testing

@testable internal import Circle

/// The vectors were written by a program that shares no code with this one.
@Suite("Values of a circle") struct ModelTests {
    private struct SealedEnvelope: Decodable {
        let letter: String
        let copy: String
        let sealed: String
    }

    private struct Vectors: Decodable {
        let uuid: String
        let uuidPublicID: String
        let uuidPublicIDText: String
        let privateKey: String
        let friendKey: String
        let personID: String
        let personPublicID: String
        let cards: [String: String]
        let refusedCards: [String: String]
        let thoughts: [String: String]
        let thoughtPublicIDs: [String: String]
        let refusedThoughts: [String: String]
        let friendCard: String
        let streams: [String: String]
        let refusedStreams: [String: String]
        let conversationID: String
        let participation: String
        let trust: String
        let mailKey: String
        let envelopes: [SealedEnvelope]
        let safetyNumber: String
    }

    private let vectors: Vectors
    private let key: Ed25519KeyPair

    init() throws {
        vectors = try TestSupport.vectors(named: "Circle/vectors.json")
        key = Ed25519KeyPair(
            privateKey: try Ed25519PrivateKey(rawRepresentation: Hex.decode(vectors.privateKey))
        )
    }

    private func device(_ byte: UInt8) throws -> PeerId {
        try PeerId(rawRepresentation: [UInt8](repeating: byte, count: PeerId.byteCount))
    }

    /// The statement of a device as the vectors have it: its key and its key for mail have 32 times one byte as private key.
    private func entry(_ byte: UInt8, of person: Ed25519PublicKey) throws -> CardDevice {
        let bytes = [UInt8](repeating: byte, count: 32)
        return try CardDevice(
            of: person,
            mailKey: SealingKeyPair(SecretBytes(copying: bytes)).publicKey,
            signedSeconds: 1_800_000_000,
            signedBy: Ed25519PrivateKey(rawRepresentation: bytes)
        )
    }

    @Test func `public ids are those of the Arkavo app`() throws {
        let id = PublicID(of: try #require(UUID(uuidString: vectors.uuid)))
        #expect(Hex.encode(id.bytes) == vectors.uuidPublicID)
        #expect(id.text == vectors.uuidPublicIDText)
        #expect(try PublicID(text: id.text) == id)
        #expect(try PublicID(bytes: id.bytes) == id)
        #expect(throws: CircleError.self) { try PublicID(text: "0OIl") }
        #expect(throws: CircleError.self) { try PublicID(text: String(repeating: "1", count: 31)) }
        #expect(throws: CircleError.self) { try PublicID(bytes: [1]) }
    }

    @Test func `the id of a person follows from the key`() throws {
        let id = Profile.id(ofPerson: key.publicKey)
        #expect(id.uuidString.lowercased() == vectors.personID)
        #expect(Hex.encode(PublicID(of: id).bytes) == vectors.personPublicID)
    }

    @Test func `cards have the bytes of the specification, both ways`() throws {
        let profile = Profile(
            id: UUID(),
            name: "Ada",
            blurb: "Counts.\nAnd weaves.",
            interests: "engines",
            location: "London",
            hasHighEncryption: true,
            hasHighIdentityAssurance: true,
            did: "did:key:z6Mk",
            handle: "ada.example"
        )
        // Signatures of this system differ each time, so that those of the vectors are taken.
        let entries = try ProfileCard(Hex.decode(#require(vectors.cards["full"]))).entries
        let three = try #require(entries.first { $0.key == (try? entry(3, of: key.publicKey).key) })  // nil: a failure
        let full = try ProfileCard(
            profile,
            devices: entries.reversed(),
            homes: [device(5)],
            issuedSeconds: 1_800_000_000,
            signedBy: key
        )
        let small = try ProfileCard(
            Profile(id: UUID(), name: "Ada"),
            devices: [three],
            issuedSeconds: 1_800_000_000,
            signedBy: key
        )
        for (name, card) in ["full": full, "small": small] {
            let bytes = try Hex.decode(#require(vectors.cards[name]))
            let read = try ProfileCard(bytes)
            // Signatures of this system differ each time; the fields do not.
            #expect(card.bytes.dropFirst(64) == bytes.dropFirst(64), "\(name)")
            #expect(read.profile == card.profile && read.devices == card.devices)
            #expect(read.entries == card.entries && read.homes == card.homes)
            #expect(read.key == key.publicKey && read.issuedSeconds == card.issuedSeconds)
            #expect(Hex.encode(read.publicID.bytes) == vectors.personPublicID)
        }
    }

    @Test func `a card names no device that did not sign for its person`() throws {
        let other = generatePeerKey().publicKey
        #expect(throws: CircleError.invalidSignature) {
            try ProfileCard(
                Profile(id: UUID(), name: "Mallory"),
                devices: [entry(3, of: other)],
                issuedSeconds: 1,
                signedBy: key
            )
        }
        let own = try entry(3, of: key.publicKey)
        #expect(try CardDevice(own.bytes, of: key.publicKey) == own)
        for place in own.bytes.indices {
            var bytes = own.bytes
            bytes[place] ^= 1
            #expect(throws: CircleError.self) { try CardDevice(bytes, of: key.publicKey) }
        }
    }

    @Test func `cards that are not signed, canonical or within bounds are refused`() throws {
        for (name, card) in vectors.refusedCards {
            #expect(throws: CircleError.self, "\(name)") { try ProfileCard(Hex.decode(card)) }
        }
        let forged = try Hex.decode(#require(vectors.refusedCards["a signature of other bytes"]))
        #expect(throws: CircleError.invalidSignature) { try ProfileCard(forged) }
        #expect(throws: CircleError.self) {
            try ProfileCard([UInt8](repeating: 0, count: ProfileCard.byteLimit + 1))
        }
        #expect(throws: CircleError.self) {
            try ProfileCard(
                Profile(id: UUID(), name: ""),
                devices: [entry(1, of: key.publicKey)],
                issuedSeconds: 1,
                signedBy: key
            )
        }
    }

    @Test func `thoughts have the bytes and ids of the specification, both ways`() throws {
        let say = try ThoughtServiceModel(Hex.decode(#require(vectors.thoughts["say"])))
        #expect(say.mediaType == .say && say.text == "Grüße" && say.createdAtMilliseconds == 1_800_000_000_123)
        let image = try ThoughtServiceModel(Hex.decode(#require(vectors.thoughts["image"])))
        #expect(image.mediaType == .image && image.text == nil && image.content == Array(0...255))
        #expect(image.contentType == "image/png" && image.fileName == "engine.png")
        for (name, thought) in ["say": say, "image": image] {
            let made = try ThoughtServiceModel(
                creatorPublicID: thought.creatorPublicID,
                streamPublicID: thought.streamPublicID,
                mediaType: thought.mediaType,
                createdAtMilliseconds: thought.createdAtMilliseconds,
                content: thought.content,
                contentType: thought.contentType,
                fileName: thought.fileName,
                salt: Array(0..<16)
            )
            #expect(made == thought)
            #expect(Hex.encode(made.bytes) == vectors.thoughts[name])
            #expect(Hex.encode(made.publicID.bytes) == vectors.thoughtPublicIDs[name])
        }
        #expect(Hex.encode(say.creatorPublicID.bytes) == vectors.personPublicID)
    }

    @Test func `two thoughts with one text have different ids`() throws {
        let say = try ThoughtServiceModel(Hex.decode(#require(vectors.thoughts["say"])))
        let ids = try (0..<2).map { _ in
            try ThoughtServiceModel(
                creatorPublicID: say.creatorPublicID,
                streamPublicID: say.streamPublicID,
                mediaType: .say,
                createdAtMilliseconds: 1,
                content: say.content
            ).publicID
        }
        #expect(ids[0] != ids[1])
    }

    @Test func `streams and notices have the bytes of the specification, both ways`() throws {
        let card = try ProfileCard(Hex.decode(#require(vectors.cards["small"])))
        let group = try StreamDescription(Hex.decode(#require(vectors.streams["group"])))
        #expect(group.profile.name == "Friends" && group.revision == 2 && group.members == [card])
        #expect(try group.invited == [ProfileCard(Hex.decode(vectors.friendCard))])
        #expect(group.policies.posting == .members && !group.isInnerCircle && group.sourcePublicID == nil)
        let inner = try StreamDescription(Hex.decode(#require(vectors.streams["inner"])))
        #expect(inner.id == DefaultStream.innerCircle.id(of: card.publicID) && inner.profile.blurb == "Of old.")
        for (name, read) in ["group": group, "inner": inner] {
            let stream = Stream(
                id: read.id,
                creatorPublicID: read.creatorPublicID,
                profile: read.profile,
                policies: read.policies,
                isInnerCircle: read.isInnerCircle,
                sourcePublicID: read.sourcePublicID,
                members: [],
                participation: .joined,
                revision: read.revision
            )
            let made = try StreamDescription(stream, cards: read.members, invited: read.invited)
            #expect(Hex.encode(made.bytes) == vectors.streams[name])
        }
        let notice = try ParticipationNotice(.joined, in: PublicID(of: group.id))
        #expect(Hex.encode(notice.bytes) == vectors.participation)
        #expect(try ParticipationNotice(notice.bytes) == notice)
        let trust = try TrustNotice(.trusted, in: card, changedSeconds: card.issuedSeconds)
        #expect(Hex.encode(trust.bytes) == vectors.trust)
        #expect(try TrustNotice(trust.bytes) == trust)
        let conversation = Conversation.id(between: card.publicID, and: PublicID(of: group.id))
        #expect(conversation.uuidString.lowercased() == vectors.conversationID)
    }

    @Test func `descriptions that are not canonical or within bounds are refused`() throws {
        for (name, stream) in vectors.refusedStreams {
            #expect(throws: CircleError.self, "\(name)") { try StreamDescription(Hex.decode(stream)) }
        }
    }

    @Test func `envelopes of another program open, and lengths are those of the specification`() throws {
        let deviceKey = try Ed25519PrivateKey(rawRepresentation: [UInt8](repeating: 4, count: 32))
        let key = KeyDerivation.deriveMailKey(peerKey: deviceKey)
        #expect(Hex.encode(key.publicKey.bytes) == vectors.mailKey)
        let recipient = try device(8)
        for vector in vectors.envelopes {
            let envelope = try Envelope(Hex.decode(vector.sealed), with: key, of: recipient)
            #expect(try envelope == Envelope(letter: Hex.decode(vector.letter), copy: Hex.decode(vector.copy)))
            let sealed = try #require(envelope.seal(to: key.publicKey, of: recipient))
            #expect(sealed.count == vector.sealed.utf8.count / 2)
            #expect(try Envelope(sealed, with: key, of: recipient) == envelope)
        }
    }

    @Test func `thoughts that are not canonical or within bounds are refused`() throws {
        for (name, thought) in vectors.refusedThoughts {
            #expect(throws: CircleError.self, "\(name)") { try ThoughtServiceModel(Hex.decode(thought)) }
        }
        let say = try ThoughtServiceModel(Hex.decode(#require(vectors.thoughts["say"])))
        let limit = ThoughtServiceModel.contentByteLimit
        for (count, isAllowed) in [(limit, true), (limit + 1, false)] {
            let thought = try? ThoughtServiceModel(  // nil: refused
                creatorPublicID: say.creatorPublicID,
                streamPublicID: say.streamPublicID,
                mediaType: .video,
                createdAtMilliseconds: 1,
                content: [UInt8](repeating: 7, count: count)
            )
            #expect((thought != nil) == isAllowed)
            if let thought { #expect(try ThoughtServiceModel(thought.bytes) == thought) }
        }
    }

    @Test func `the safety number of two people is that of the specification`() throws {
        let friend = try Ed25519PublicKey(rawRepresentation: Hex.decode(vectors.friendKey))
        let number = SafetyNumber(between: key.publicKey, and: friend)
        #expect("\(number)" == vectors.safetyNumber)
        #expect(SafetyNumber(between: friend, and: key.publicKey) == number)
    }

    @Test func `no card and no thought makes a decoder crash`() throws {
        let cards = try vectors.cards.values.sorted().map { try Hex.decode($0) }
        neverCrash(on: cards) { bytes in _ = try ProfileCard(bytes) }
        let thoughts = try vectors.thoughts.values.sorted().map { try Hex.decode($0) }
        neverCrash(on: thoughts) { bytes in _ = try ThoughtServiceModel(bytes) }
        let streams = try vectors.streams.values.sorted().map { try Hex.decode($0) }
        neverCrash(on: streams) { bytes in _ = try StreamDescription(bytes) }
        try neverCrash(on: [Hex.decode(vectors.participation)]) { bytes in _ = try ParticipationNotice(bytes) }
        try neverCrash(on: [Hex.decode(vectors.trust)]) { bytes in _ = try TrustNotice(bytes) }
        let padded = Envelope(letter: [1, 2, 3], copy: [4]).padded
        neverCrash(on: [padded]) { bytes in _ = try Envelope(padded: bytes) }
        neverCrash(onTexts: [vectors.uuidPublicIDText]) { text in _ = try PublicID(text: text) }
    }
}
