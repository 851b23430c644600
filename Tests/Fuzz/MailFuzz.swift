internal import Bytes
internal import Foundation
internal import Identity

@testable internal import Mailbox

/// The decoders of mailboxes: an accepted input is written again with the same bytes.
///
/// The node's library re-exports other messages, so this file does not import it.
struct MailFuzz {
    private let mailbox: MailboxId

    init() throws {
        let key = try Ed25519PrivateKey(rawRepresentation: [UInt8](repeating: 1, count: 32))
        mailbox = MailboxId(of: PeerId(publicKey: key.publicKey), in: NetworkId(publicKey: key.publicKey))
    }

    func readMessage(_ bytes: [UInt8]) {
        guard let message = try? Message(bytes) else { return }  // refused
        precondition(message.bytes == bytes, "a message is written differently than it was read")
    }

    func readDeposit(_ bytes: [UInt8]) {
        guard let deposit = try? Deposit(bytes) else { return }  // refused
        precondition(deposit.bytes == bytes, "a deposit is written differently than it was read")
    }

    func readMail(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let mail = try? reader.readMail(to: mailbox) else { return }  // refused
        precondition(reader.isAtEnd, "a mail ends before its input")
        var writer = ByteWriter()
        writer.write(mail)
        precondition(writer.bytes == bytes, "a mail is written differently than it was read")
        precondition(MailId(mail.id.bytes) == mail.id, "the id of a mail is written differently than it was read")
    }

    /// The test vectors, and the deposits and mails in them.
    func seeds(in folder: URL) throws -> [Seed] {
        let messages = try Vectors(of: "Mailbox", in: folder).bytes("messages", "malformed")
        var seeds: [Seed] = []
        for bytes in messages {
            seeds.append(Seed(format: .message, bytes: bytes))
            // Kind 3 is a deposit after a request of 4 bytes; kinds 2 and 9 are mails.
            switch bytes.first {
            case 3: seeds.append(Seed(format: .deposit, bytes: Array(bytes.dropFirst(5))))
            case 2, 9: seeds.append(Seed(format: .mail, bytes: Array(bytes.dropFirst())))
            default: break
            }
        }
        return seeds
    }
}
