internal import Bytes
internal import Identity

/// A request to hold a mail, as it is sealed to the holder.
struct Deposit: Hashable, Sendable {
    /// The bytes before the body.
    static let headerByteCount = receiptByteCount + MailboxId.byteCount + 8
    /// The number of bytes of a receipt.
    static let receiptByteCount = 16
    private static let label = DomainLabel("runar/mailbox-deposit/v1")

    /// A secret that the holder returns once it has stored the mail, so that a relay cannot claim that.
    let receipt: [UInt8]
    let mail: Mail

    init(receipt: [UInt8], mail: Mail) {
        self.receipt = receipt
        self.mail = mail
    }

    /// Reads an encoding.
    init(_ bytes: some Collection<UInt8>) throws(BytesError) {
        var reader = ByteReader(bytes)
        receipt = try reader.readBytes(count: Self.receiptByteCount)
        guard let mailbox = MailboxId(try reader.readSlice(count: MailboxId.byteCount)) else {
            throw .invalidLength(MailboxId.byteCount)
        }
        mail = try reader.readMail(to: mailbox)
    }

    /// The encoding: receipt, mailbox id, expiration, body.
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.headerByteCount + mail.body.count)
        writer.write(receipt)
        writer.write(mail.mailbox.bytes)
        writer.write(mail)
        return writer.bytes
    }

    /// The info of HPKE for a deposit with `holder`.
    static func info(_ network: NetworkId, holder: PeerId) -> [UInt8] {
        label.message(network.bytes, holder.bytes)
    }
}

extension ByteReader {
    /// Reads expiration and body, which end the input.
    mutating func readMail(to mailbox: MailboxId) throws(BytesError) -> Mail {
        let expirationSeconds = try readUInt64()
        guard expirationSeconds <= UnixTime.maximum else { throw .invalidValue("an expiration after the year 9999") }
        guard remaining <= Mail.bodyByteLimit else { throw .tooLong(limit: Mail.bodyByteLimit, found: remaining) }
        guard remaining > 0 else { throw .invalidLength(0) }
        return Mail(to: mailbox, expirationSeconds: expirationSeconds, body: readRemaining())
    }
}

extension ByteWriter {
    /// Writes expiration and body.
    mutating func write(_ mail: Mail) {
        write(mail.expirationSeconds)
        write(mail.body)
    }
}
