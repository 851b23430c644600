internal import Foundation
internal import Identity
internal import Node
internal import RunarNode

// What arrives is told as it comes, for as long as somebody listens.
extension RequestHandler {
    /// Updates that wait for a slow listener; senders of messages wait with it, nobody waits for events.
    private static let updateBuffer = 256

    package func listen(_ listening: ListenForm, _ tell: @escaping Tell) async throws {
        if let directory = listening.acceptFiles { try Self.checkDirectory(directory) }
        let messages = node.startListening()
        let events = node.eventStream
        let (updates, continuation) = AsyncStream.makeStream(
            of: NodeUpdate.self,
            bufferingPolicy: .bufferingOldest(Self.updateBuffer)
        )
        let ask: @Sendable (FileOfferReport) -> Void = { _ = continuation.yield(.fileOffered($0)) }
        let note: @Sendable (FileProgress) -> Void = { progress in
            guard let path = progress.path else { return }
            let report = FileArrivedReport(
                peerId: progress.peer.base64Encoded,
                name: progress.name,
                bytes: progress.total,
                path: path
            )
            continuation.yield(.fileArrived(report))
        }
        let number = files.add(
            FileDesk.Listener(
                directory: listening.acceptFiles,
                ask: listening.asksAboutFiles ? ask : nil,
                progress: note
            )
        )
        defer { files.remove(number) }
        let ready = ListeningReport(
            peerId: node.peerId.base64Encoded,
            addresses: node.listenAddresses.map(\.description)
        )
        await tell(.listening(ready))
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await update in updates { await tell(update) }
            }
            group.addTask {
                for await event in events where listening.events {
                    await tell(.event(EventReport(event)))
                }
            }
            for await (peer, payload) in messages {
                await tell(.message(MessageReport(peer: peer, payload: Array(payload))))
            }
            group.cancelAll()
        }
    }

    /// Files must have a place before anybody is told that they are welcome.
    package static func checkDirectory(_ path: String) throws(CommandFailure) {
        var isDirectory: ObjCBool = false
        guard path.hasPrefix("/"), unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
            isDirectory.boolValue
        else {
            throw CommandFailure("no-directory", .noInput, "there is no directory \"\(path)\" for files: make it first")
        }
    }
}
