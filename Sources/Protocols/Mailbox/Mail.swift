internal import Bytes
internal import Crypto
package import Identity

/// A sealed message for one mailbox, which is opaque to the mailbox protocol.
package struct Mail: Hashable, Sendable {
    /// The most bytes of a body: 256 KiB.
    package static let bodyByteLimit = 1 << 18

    package let id: MailId
    package let mailbox: MailboxId
    /// The time at which holders delete the mail, in seconds since 1970.
    package let expirationSeconds: UInt64
    package let body: [UInt8]

    /// Creates a mail, whose id is derived from its content.
    package init(to mailbox: MailboxId, expirationSeconds: UInt64, body: [UInt8]) {
        self.mailbox = mailbox
        self.expirationSeconds = expirationSeconds
        self.body = body
        id = MailId(of: mailbox, expirationSeconds, body)
    }
}

/// The id of a mail: the first 16 bytes of SHA-256 over a label, the mailbox id, the expiration and the body.
///
/// A holder cannot exchange the content under an id.
package struct MailId: Hashable, Comparable, Sendable {
    /// The number of bytes of an id.
    package static let byteCount = 16
    private static let label = DomainLabel("runar/mail/v1")

    private let high: UInt64
    private let low: UInt64

    init(of mailbox: MailboxId, _ expirationSeconds: UInt64, _ body: [UInt8]) {
        var writer = ByteWriter(capacity: 8)
        writer.write(expirationSeconds)
        var hash = SHA256()
        hash.update(data: Self.label.message(mailbox.bytes, writer.bytes))
        hash.update(data: body)
        self.init(first: Array(hash.finalize().prefix(Self.byteCount)))
    }

    /// Takes 16 bytes; nil for another number.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(first: Array(bytes))
    }

    private init(first bytes: [UInt8]) {
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The 16 bytes.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.write(high)
        writer.write(low)
        return writer.bytes
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}

/// The description of a mail that this node sends; its body lies with the driver.
package struct OutgoingMail: Hashable, Sendable {
    package let id: MailId
    package let recipient: PeerId
    package let expirationSeconds: UInt64
    /// The bytes of the body.
    package let byteCount: Int
    /// The members that the recipient chose to hold its mail; without any, the nearest ones do.
    package let homes: [PeerId]
    /// The members that confirmed in an earlier run that they hold the mail.
    package let holders: [PeerId]
    /// The members that were requested in an earlier run to relay the mail, and so know its sender.
    package let relays: [PeerId]

    package init(
        _ mail: Mail,
        to recipient: PeerId,
        homes: [PeerId] = [],
        holders: [PeerId] = [],
        relays: [PeerId] = []
    ) {
        self.init(
            id: mail.id,
            recipient: recipient,
            expirationSeconds: mail.expirationSeconds,
            byteCount: mail.body.count,
            homes: homes,
            holders: holders,
            relays: relays
        )
    }

    package init(
        id: MailId,
        recipient: PeerId,
        expirationSeconds: UInt64,
        byteCount: Int,
        homes: [PeerId],
        holders: [PeerId],
        relays: [PeerId]
    ) {
        self.id = id
        self.recipient = recipient
        self.expirationSeconds = expirationSeconds
        self.byteCount = byteCount
        self.homes = homes
        self.holders = holders
        self.relays = relays
    }
}

/// The description of a mail that this node holds for another member; its body lies with the driver.
package struct HeldMail: Hashable, Sendable {
    package let id: MailId
    package let mailbox: MailboxId
    package let expirationSeconds: UInt64
    /// The bytes of the body.
    package let byteCount: Int
    /// The member that brought the mail, on its own behalf or for another one.
    package let depositor: PeerId

    package init(id: MailId, mailbox: MailboxId, expirationSeconds: UInt64, byteCount: Int, depositor: PeerId) {
        self.id = id
        self.mailbox = mailbox
        self.expirationSeconds = expirationSeconds
        self.byteCount = byteCount
        self.depositor = depositor
    }
}
