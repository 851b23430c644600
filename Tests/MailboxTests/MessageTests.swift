internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Mailbox

/// The vectors were written by a program that shares no code with this one.
@Suite("Messages of mailboxes") struct MessageTests {
    private struct Vectors: Decodable {
        let network: String
        let owner: String
        let holder: String
        let expiration: UInt64
        let body: String
        let receipt: String
        let mailboxId: String
        let mailId: String
        let messages: [String: String]
        let malformed: [String: String]
    }

    private let vectors: Vectors
    private let network: NetworkId
    private let mail: Mail

    init() throws {
        vectors = try TestSupport.vectors(named: "Mailbox/vectors.json")
        network = try NetworkId(rawRepresentation: Hex.decode(vectors.network))
        let owner = try PeerId(rawRepresentation: Hex.decode(vectors.owner))
        mail = Mail(
            to: MailboxId(of: owner, in: network),
            expirationSeconds: vectors.expiration,
            body: try Hex.decode(vectors.body)
        )
    }

    private func bytes(_ name: String) throws -> [UInt8] { try Hex.decode(try #require(vectors.messages[name])) }

    @Test func `ids are those of the specification`() throws {
        #expect(mail.mailbox.bytes == (try Hex.decode(vectors.mailboxId)))
        #expect(mail.id.bytes == (try Hex.decode(vectors.mailId)))
    }

    @Test func `messages have the bytes of the specification, both ways`() throws {
        let holder = try PeerId(rawRepresentation: Hex.decode(vectors.holder))
        let receipt = try Hex.decode(vectors.receipt)
        let deposit = Deposit(receipt: receipt, mail: mail)
        let sealed = Array(try bytes("relayed").dropFirst(5))
        let key = try SealingKey(rawRepresentation: bytes("key").dropFirst(), of: "a mailbox key")
        let none = [UInt8](repeating: 0, count: Deposit.receiptByteCount)
        let empty = try #require(MailId(none))
        let messages: [String: Message] = [
            "key": .key(key),
            "deliver": .deliver(expirationSeconds: mail.expirationSeconds, body: mail.body),
            "deposit": .deposit(request: 77, deposit.bytes),
            "relay": .relay(request: 77, holder: holder, sealed),
            "relayed": .relayed(request: 77, sealed),
            "stored": .reply(request: 77, .stored, receipt: receipt),
            "mailbox full": .reply(request: 77, .mailboxFull, receipt: none),
            "relay full": .reply(request: 77, .relayFull, receipt: none),
            "holder unanswered": .reply(request: 77, .unanswered, receipt: none),
            "notice": .notice,
            "collect": .collect,
            "mail": .mail(expirationSeconds: mail.expirationSeconds, body: mail.body),
            "received": .received(.delivered, [mail.id]),
            "refused": .received(.refused, [mail.id, empty]),
        ]
        #expect(Set(messages.keys) == Set(vectors.messages.keys))
        for (name, message) in messages {
            #expect(message.bytes == (try bytes(name)), "\(name)")
            #expect(try Message(bytes(name)) == message, "\(name)")
        }
    }

    @Test func `a deposit that another implementation sealed opens with the holder's key`() throws {
        let holder = try PeerId(rawRepresentation: Hex.decode(vectors.holder))
        let configuration = Mailbox.Configuration(
            localPeerId: holder,
            networkId: network,
            secret: SecretBytes(copying: [UInt8](repeating: 7, count: 32)),
            randomSeed: 1
        )
        let key = Mailbox.depositKey(configuration)
        #expect(Message.key(key.publicKey).bytes == (try bytes("key")))
        let sealed = try bytes("relayed").dropFirst(5)
        let opened = try #require(key.open(sealed, info: Deposit.info(network, holder: holder)))
        let deposit = try Deposit(opened)
        let receipt = try Hex.decode(vectors.receipt)
        #expect(deposit.mail == mail && deposit.receipt == receipt)
        let owner = try PeerId(rawRepresentation: Hex.decode(vectors.owner))
        #expect(key.open(sealed, info: Deposit.info(network, holder: owner)) == nil)
    }

    @Test func `malformed messages are refused`() throws {
        for (name, bytes) in vectors.malformed {
            #expect(throws: BytesError.self, "\(name)") { try Message(Hex.decode(bytes)) }
        }
        let long = Message.mail(expirationSeconds: 1, body: [UInt8](repeating: 1, count: Mail.bodyByteLimit + 1))
        #expect(throws: BytesError.self) { try Message(long.bytes) }
        let ids = Message.received(.delivered, [MailId](repeating: mail.id, count: Message.idLimit + 1))
        #expect(throws: BytesError.self) { try Message(ids.bytes) }
    }

    @Test func `no message and no deposit makes a decoder crash`() throws {
        let messages = try vectors.messages.values.sorted().map { try Hex.decode($0) }
        neverCrash(on: messages) { bytes in _ = try Message(bytes) }
        let deposit = Deposit(receipt: try Hex.decode(vectors.receipt), mail: mail)
        neverCrash(on: [deposit.bytes]) { bytes in _ = try Deposit(bytes) }
    }
}
