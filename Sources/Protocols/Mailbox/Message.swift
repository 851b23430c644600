internal import Bytes
internal import Identity

/// A message between two members (`docs/spec/mailbox.md`, section 3).
enum Message: Hashable, Sendable {
    /// The key to which deposits for the sender are sealed, sent once on each admission by members that hold mail.
    case key(SealingKey)
    /// A mail from its sender for the receiver.
    case deliver(expirationSeconds: UInt64, body: [UInt8])
    /// A mail for the receiver to hold.
    case deposit(request: UInt32, [UInt8])
    /// A sealed deposit for the receiver to relay to a holder.
    case relay(request: UInt32, holder: PeerId, [UInt8])
    /// A sealed deposit from a relay.
    case relayed(request: UInt32, [UInt8])
    /// The answer to `deposit`, `relay` and `relayed`.
    case reply(request: UInt32, DepositStatus, receipt: [UInt8])
    /// The sender holds mail of the receiver.
    case notice
    /// Requests from the receiver the mail that it holds for the sender.
    case collect
    /// A mail that the sender holds for the receiver.
    case mail(expirationSeconds: UInt64, body: [UInt8])
    /// The sender has stored these mails, or refuses them; their holder deletes them.
    case received(Reception, [MailId])
}

/// The result of a deposit.
package enum DepositStatus: UInt8, Hashable, Sendable, CaseIterable {
    /// The mail is stored, durably.
    case stored = 0
    /// The mailbox is full.
    case mailboxFull = 1
    /// The holder has no more room, in total or for this depositor.
    case holderFull = 2
    /// The depositor exceeded its rate limit.
    case tooMany = 3
    /// The mail has expired, or would be held for too long.
    case badExpiration = 4
    /// The holder cannot open the deposit, which was sealed to an earlier key.
    case unreadable = 5
    /// The relay has no connection to the holder.
    case unreachable = 6
    /// The member holds no mail, or failed to store it.
    case unavailable = 7
    /// The relay takes no further deposit of this sender in this time.
    case relayFull = 8
    /// The holder did not answer the relay.
    case unanswered = 9

    /// Whether a relay reports this about itself, and never a holder: a relay replaces it in the reply of a holder.
    package var isOfRelay: Bool {
        switch self {
        case .stored, .mailboxFull, .holderFull, .tooMany, .badExpiration, .unreadable, .unavailable: false
        case .unreachable, .relayFull, .unanswered: true
        }
    }
}

/// The recipient's answer to a mail.
package enum Reception: UInt8, Hashable, Sendable, CaseIterable {
    /// The mail is stored, or was stored before.
    case delivered = 0
    /// The recipient takes no mail like this.
    case refused = 1
}

extension Message {
    /// The most ids in one message.
    static let idLimit = 1024

    private enum Kind: UInt8 {
        case key = 1
        case deliver = 2
        case deposit = 3
        case relay = 4
        case relayed = 5
        case reply = 6
        case notice = 7
        case collect = 8
        case mail = 9
        case received = 10
    }

    /// The encoding.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .key(let key):
            writer.write(Kind.key.rawValue)
            writer.write(key.bytes)
        case .deliver(let expirationSeconds, let body):
            writer.write(Kind.deliver.rawValue)
            writer.write(expirationSeconds)
            writer.write(body)
        case .deposit(let request, let deposit):
            writer.write(Kind.deposit.rawValue)
            writer.write(request)
            writer.write(deposit)
        case .relay(let request, let holder, let sealed):
            writer.write(Kind.relay.rawValue)
            writer.write(request)
            writer.write(holder.bytes)
            writer.write(sealed)
        case .relayed(let request, let sealed):
            writer.write(Kind.relayed.rawValue)
            writer.write(request)
            writer.write(sealed)
        case .reply(let request, let status, let receipt):
            writer.write(Kind.reply.rawValue)
            writer.write(request)
            writer.write(status.rawValue)
            writer.write(receipt)
        case .notice: writer.write(Kind.notice.rawValue)
        case .collect: writer.write(Kind.collect.rawValue)
        case .mail(let expirationSeconds, let body):
            writer.write(Kind.mail.rawValue)
            writer.write(expirationSeconds)
            writer.write(body)
        case .received(let reception, let ids):
            writer.write(Kind.received.rawValue)
            writer.write(reception.rawValue)
            writer.write(UInt16(ids.count))
            for id in ids { writer.write(id.bytes) }
        }
        return writer.bytes
    }

    /// Reads an encoding.
    init(_ bytes: some Collection<UInt8>) throws(BytesError) {
        var reader = ByteReader(bytes)
        let byte = try reader.readUInt8()
        guard let kind = Kind(rawValue: byte) else { throw .invalidValue("the kind \(byte)") }
        switch kind {
        case .key: self = .key(try reader.readSealingKey())
        case .deliver: self = .deliver(expirationSeconds: try reader.readUInt64(), body: try reader.readBody())
        case .deposit: self = .deposit(request: try reader.readUInt32(), try reader.readDeposit())
        case .relay:
            let request = try reader.readUInt32()
            guard let holder = Bytes32(try reader.readSlice(count: PeerId.byteCount)) else {
                throw .invalidLength(PeerId.byteCount)
            }
            self = .relay(request: request, holder: PeerId(words: holder), try reader.readDeposit(isSealed: true))
        case .relayed: self = .relayed(request: try reader.readUInt32(), try reader.readDeposit(isSealed: true))
        case .reply:
            let request = try reader.readUInt32()
            let status = try reader.readUInt8()
            guard let status = DepositStatus(rawValue: status) else { throw .invalidValue("the status \(status)") }
            let receipt = try reader.readBytes(count: Deposit.receiptByteCount)
            self = .reply(request: request, status, receipt: receipt)
        case .notice: self = .notice
        case .collect: self = .collect
        case .mail: self = .mail(expirationSeconds: try reader.readUInt64(), body: try reader.readBody())
        case .received:
            let reception = try reader.readUInt8()
            guard let reception = Reception(rawValue: reception) else { throw .invalidValue("the answer \(reception)") }
            self = .received(reception, try reader.readIDs())
        }
        try reader.finish()
    }
}

extension ByteReader {
    fileprivate mutating func readSealingKey() throws(BytesError) -> SealingKey {
        let bytes = try readSlice(count: SealingKey.byteCount)
        do {
            return try SealingKey(rawRepresentation: bytes, of: "a mailbox key")
        } catch {
            throw .invalidValue("\(error)")
        }
    }

    /// Reads a body, which ends the input.
    fileprivate mutating func readBody() throws(BytesError) -> [UInt8] {
        guard remaining <= Mail.bodyByteLimit else { throw .tooLong(limit: Mail.bodyByteLimit, found: remaining) }
        guard remaining > 0 else { throw .invalidLength(0) }
        return readRemaining()
    }

    /// Reads a deposit, which ends the input.
    fileprivate mutating func readDeposit(isSealed: Bool = false) throws(BytesError) -> [UInt8] {
        let overhead = Deposit.headerByteCount + (isSealed ? SealingKey.overheadByteCount : 0)
        guard remaining <= overhead + Mail.bodyByteLimit else {
            throw .tooLong(limit: overhead + Mail.bodyByteLimit, found: remaining)
        }
        guard remaining > overhead else { throw .invalidLength(remaining) }
        return readRemaining()
    }

    fileprivate mutating func readIDs() throws(BytesError) -> [MailId] {
        let count = Int(try readUInt16())
        guard count <= Message.idLimit else { throw .tooLong(limit: Message.idLimit, found: count) }
        var ids: [MailId] = []
        for _ in 0..<count {
            guard let id = MailId(try readSlice(count: MailId.byteCount)) else {
                throw .invalidLength(MailId.byteCount)
            }
            ids.append(id)
        }
        return ids
    }
}
