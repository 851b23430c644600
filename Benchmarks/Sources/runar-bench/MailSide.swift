internal import Concurrency
internal import Database
internal import Foundation
internal import Identity
internal import Mailbox
internal import NodeStore
internal import RunarNode

/// A mailbox that a member holds for another one: its collection, and the start of its holder.
enum MailSide {
    private static let body = [UInt8](repeating: 7, count: 1024)
    private static let starts = 5

    /// Prints how many mails of 1 KiB an owner collects and confirms per second, and the start time of its holder with and
    /// without them, in milliseconds.
    static func measure(count: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runar-bench-\(UUID().uuidString)")
        let network = deriveNetworkKey(masterKey: generateMasterKey(), networkIndex: 0)
        let ticket = Ticket(peerId: PeerId(publicKey: network.publicKey), network: network)
        let owner = try await ticket.member(state: folder.appending(path: "owner"))
        let (empty, full) = (folder.appending(path: "empty"), folder.appending(path: "full"))
        let emptyHolder = try await ticket.member(state: empty)
        let holder = try await ticket.member(state: full)
        for node in [emptyHolder, holder] { await node.stop() }
        try fill(full, with: count, for: owner.peerId, in: ticket.networkId)
        let plain = try await start(emptyHolder)
        let loaded = try await start(holder)

        try await holder.start()
        let incoming = owner.openMailbox()
        let clock = ContinuousClock.now
        try await owner.connectToPeer(
            peerId: holder.peerId,
            networkId: ticket.networkId,
            address: "127.0.0.1:\(holder.listeningPort)"
        )
        var collected = 0
        while collected < count, let first = try await incoming.next() {
            var batch = [first.mail.id]
            while incoming.count > 0, batch.count < 256, let next = try await incoming.next() {
                batch.append(next.mail.id)
            }
            owner.answerMail(batch, in: ticket.networkId, .delivered)
            collected += batch.count
        }
        let elapsed = ContinuousClock.now - clock
        for node in [owner, holder] { await node.stop() }
        try FileManager.default.removeItem(at: folder)
        Output.result([
            "perSecond": Double(count) / elapsed.seconds, "start": loaded.seconds * 1e3,
            "startEmpty": plain.seconds * 1e3,
        ])
    }

    /// Stores mails as a holder does.
    private static func fill(_ folder: URL, with count: Int, for owner: PeerId, in network: NetworkId) throws {
        let store = try NodeStore(path: folder.appending(path: "state.db").path(percentEncoded: false))
        let mailbox = MailboxId(of: owner, in: network)
        let expiration = UInt64(Date.now.timeIntervalSince1970) + 86_400
        let mails = (0..<count).map { number -> (mail: StoredMail, body: [UInt8]) in
            let text = [UInt8]("\(number) ".utf8) + body.dropFirst(8)
            let mail = Mail(to: mailbox, expirationSeconds: expiration, body: text)
            let stored = StoredMail(
                folder: .held,
                networkId: network,
                mailId: mail.id.bytes,
                mailbox: mailbox.bytes,
                peerId: owner,
                expiration: expiration,
                byteCount: text.count
            )
            return (stored, text)
        }
        try store.addMail(mails)
        try store.database.close()
    }

    /// Returns the middle time of some starts.
    private static func start(_ node: RunarNode) async throws -> Duration {
        var times: [Duration] = []
        for _ in 0..<starts {
            let clock = ContinuousClock.now
            try await node.start()
            times.append(ContinuousClock.now - clock)
            await node.stop()
        }
        return times.percentile(0.5)
    }
}
