internal import Concurrency
public import Identity
public import Node
internal import Platform

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Messages and files.
extension RunarNode {
    /// How a connected peer's packets travel at the moment; nil when it is not connected.
    public func path(to peer: PeerId) -> PeerPath? {
        guard let driver = try? self.running() else { return nil }  // nobody is connected while it is stopped
        return driver.path(to: peer)
    }

    /// How long packets to a peer and their answers take at the moment, smoothed; nil when it is not connected, or before
    /// it was measured.
    public func roundTrip(to peer: PeerId) -> Duration? {
        (try? self.running())?.roundTrip(to: peer)  // nobody is connected while it is stopped
    }

    /// Sends a message in bincode and returns once a listener on the peer has it, dialling the peer first if need be.
    ///
    /// - Throws: ``NodeError``; `CancellationError` when cancelled; what `message` throws while it is encoded.
    public func sendToPeer<Message: Encodable>(_ message: Message, peerId: PeerId) async throws {
        try await self.running().send(try Bincode.serialize(message), to: peerId)
    }

    /// Sends a message to several peers at once, each once.
    ///
    /// - Throws: ``BroadcastError`` naming each peer that has it and each that did not confirm it, with the reason.
    public func broadcast<Message: Encodable>(_ message: Message, peerIds: [PeerId]) async throws {
        let payload = try Bincode.serialize(message)
        let driver = try self.running()
        let peers = Set(peerIds)
        let failures = await withTaskGroup(of: (PeerId, any Error)?.self) { group in
            for peer in peers {
                group.addTask {
                    do {
                        try await driver.send(payload, to: peer)
                        return nil
                    } catch {
                        return (peer, error)
                    }
                }
            }
            return await group.reduce(into: [PeerId: any Error]()) { failures, failure in
                if let (peer, error) = failure { failures[peer] = error }
            }
        }
        try Task.checkCancellation()
        guard failures.isEmpty else {
            throw BroadcastError(delivered: peers.filter { failures[$0] == nil }.sorted(), failures: failures)
        }
    }

    /// The bincode bytes of every message that arrives from now on, with its sender.
    ///
    /// Any number of listeners may listen; each has a buffer of `listenerCapacity` messages, but of 64 MiB at most (or of
    /// 64 messages of the largest size), and while one is full senders get ``NodeError/receiverBusy(_:)`` instead of silence, as they do while too much of other messages and
    /// requests is on its way. A listener is registered before this returns. What waits when its task is cancelled is let go.
    public func startListening() -> AsyncStream<(PeerId, Data)> {
        self.broadcasts.messages.listen { ($0.peer, Data($0.payload)) }
    }

    /// What happens to this node from now on.
    public var eventStream: AsyncStream<NodeEvent> { self.broadcasts.events.listen() }

    /// Sends the file at `path` and returns once the peer has checked and stored it, under `name` or its own.
    ///
    /// An interrupted transfer is resumed by sending the same file again.
    ///
    /// - Throws: ``NodeError``; `declined` if the peer's person or program said no.
    public func sendFile(
        at path: String,
        named name: String? = nil,
        peerId: PeerId,
        progress: @escaping @Sendable (FileProgress) -> Void = { _ in }
    ) async throws {
        let name = name ?? FilePath.name(of: path)
        try await self.running().sendFile(at: path, named: name, to: peerId, progress: progress)
    }

    /// Sets who decides about files that peers offer; without a receiver they are declined.
    ///
    /// It outlives a stop and a start.
    public func receiveFiles(_ receiver: FileReceiver?) {
        let before = self.settings.fileReceiver.withLock { current in
            defer { current = receiver }
            // Here, so that of two receivers the last one stays.
            if let driver = self.phases.driver { driver.receiveFiles(receiver) }
            return current
        }
        // What it owns may come back here when it goes: let it go outside.
        withExtendedLifetime(before) {}
    }
}

/// What became of a broadcast that not everybody confirmed.
public struct BroadcastError: Error {
    /// Who has the message, ascending.
    public let delivered: [PeerId]
    /// Why each of the others did not confirm it.
    ///
    /// After `interrupted`, `timedOut` and `receiverBusy` a peer may have the message all the same, or some of its
    /// listeners may: whoever sends it again must expect it to arrive twice.
    public let failures: [PeerId: any Error]
}

extension BroadcastError: CustomStringConvertible {
    /// How many have the message, and the failures, a line each.
    public var description: String {
        let count = self.delivered.count + self.failures.count
        let lines = self.failures.sorted { $0.key < $1.key }.map { "peer \($0.key.short): \($0.value)" }
        return (["\(self.delivered.count) of \(count) peers have the message"] + lines).joined(separator: "\n")
    }
}
