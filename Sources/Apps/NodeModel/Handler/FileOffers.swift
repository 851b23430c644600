package import CommandModel
internal import Concurrency
internal import Identity
internal import Node
internal import Platform
internal import RunarNode

/// The registry of files that peers offer: a standing order decides first, then a listener.
package final class FileOffers: Sendable {
    /// Offers of one member that wait for the person: more than a person would answer one by one.
    static let offersOfOneMember = 16
    /// Offers of all members that wait for the person: as many as a page can show.
    static let offersOfAllMembers = 64

    /// A listener that can take files.
    struct Listener: Sendable {
        /// The directory for files that are accepted without a question; nil for none.
        let directory: String?
        /// Asks a person; nil if there is none.
        let ask: (@Sendable (FileOfferReport) -> Void)?
        /// Whether a person is present who can answer.
        var isPresent: @Sendable () -> Bool = { true }
        /// Called when an offer has ended.
        var settled: @Sendable (Int, Outcome) -> Void = { _, _ in }
        let progress: @Sendable (FileProgress) -> Void
        /// Called when an accepted file could not be stored.
        var failed: @Sendable (FileFailure) -> Void = { _ in }
    }

    /// The outcome of an offer.
    enum Outcome: Hashable, Sendable {
        /// The directory that the person chose; nil to decline.
        case answered(String?)
        case unanswered
        /// The sender no longer waits.
        case withdrawn
    }

    /// An offer that has not ended.
    ///
    /// Only the one who removes it from the state fulfils its promise, so that an answer that was taken counts.
    private struct PendingOffer: Sendable {
        let listener: Int
        let peer: PeerId
        let ending: Promise<Outcome>
    }

    private struct State: Sendable {
        var listeners: [(number: Int, listener: Listener)] = []
        var pendingOffers: [Int: PendingOffer] = [:]
        var next = 0
    }

    private let state = Locked(State())
    private let directories: ReceivingDirectories
    /// The time that a person has to decide about a file.
    private let patience: Duration

    init(directories: ReceivingDirectories, patience: Duration = FileRefusal.answerPatience) {
        self.directories = directories
        self.patience = patience
    }

    /// Returns the receiver that the node calls; with a `directory`, it accepts every file without a listener.
    func receiver(standing directory: String?) -> FileReceiver {
        FileReceiver(
            decide: { [weak self] offer throws(FileRefusal) in try await self?.decide(offer, standing: directory) ?? nil
            },
            progress: { [weak self] progress in self?.tell(progress) },
            failed: { [weak self] failure in self?.tell(failure) }
        )
    }

    /// Adds a listener, which decides on files until ``remove(_:)``.
    func add(_ listener: Listener) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners.append((state.next, listener))
            return state.next
        }
    }

    /// Removes a listener; its unanswered offers are refused.
    func remove(_ number: Int) {
        let open = state.withLock { state in
            state.listeners.removeAll { $0.number == number }
            let open = state.pendingOffers.filter { $0.value.listener == number }
            for key in open.keys { state.pendingOffers[key] = nil }
            return open.values
        }
        for pendingOffer in open { pendingOffer.ending.fulfil(.answered(nil)) }
    }

    /// Passes on the person's decision: a directory, or nil to refuse.
    ///
    /// - Throws: ``CommandFailure`` when the sender no longer waits for it.
    package func answer(_ number: Int, _ directory: String?) throws(CommandFailure) {
        guard end(number, as: .answered(directory)) else {
            throw CommandFailure("too-late", .tryAgain, "the sender no longer waits for this answer", http: 409)
        }
    }

    /// Ends an offer; returns false if it has ended already, which remains its outcome.
    @discardableResult private func end(_ number: Int, as outcome: Outcome) -> Bool {
        guard let pendingOffer = state.withLock({ $0.pendingOffers.removeValue(forKey: number) }) else { return false }
        pendingOffer.ending.fulfil(outcome)
        return true
    }

    private func tell(_ progress: FileProgress) {
        for (_, listener) in state.withLock({ $0.listeners }) { listener.progress(progress) }
    }

    private func tell(_ failure: FileFailure) {
        for (_, listener) in state.withLock({ $0.listeners }) { listener.failed(failure) }
    }

    /// Returns the directory for a file, which a later start will look into; nil to decline.
    func decide(_ offer: FileOffer, standing directory: String?) async throws(FileRefusal) -> String? {
        guard let chosen = try await choose(offer, standing: directory) else { return nil }
        do throws(FileError) {
            try directories.add(chosen)
        } catch {
            let refusal = FileRefusal(error)
            tell(FileFailure(offer: offer, refusal: refusal, reason: "\(error)"))
            throw refusal
        }
        return chosen
    }

    private func choose(_ offer: FileOffer, standing directory: String?) async throws(FileRefusal) -> String? {
        if let directory { return directory }
        let listeners = state.withLock { $0.listeners }
        if let directory = listeners.reversed().lazy.compactMap(\.listener.directory).first { return directory }
        guard let asked = listeners.last(where: { $0.listener.ask != nil && $0.listener.isPresent() }),
            let ask = asked.listener.ask
        else { throw .unattended }
        guard let (number, ending) = open(offer, for: asked.number) else { throw .busy }
        let report = FileOfferReport(
            number: number,
            peerId: offer.peer.base64Encoded,
            networkId: offer.network.base64Encoded,
            name: offer.name,
            bytes: offer.byteCount,
            answerSeconds: Int(patience.seconds.rounded(.up))
        )
        let outcome = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.limitWait(for: number) }
            // A listener that was removed before the offer was registered would never answer.
            let isListening = state.withLock { $0.listeners.contains { $0.number == asked.number } }
            if isListening { ask(report) } else { end(number, as: .answered(nil)) }
            let outcome = await ending.waitIgnoringCancellation()
            group.cancelAll()
            return outcome
        }
        asked.listener.settled(number, outcome)
        switch outcome {
        case .answered(let directory): return directory
        case .unanswered: throw .unanswered
        case .withdrawn: return nil
        }
    }

    /// Registers an offer for the person; nil when too many wait.
    private func open(_ offer: FileOffer, for listener: Int) -> (number: Int, ending: Promise<Outcome>)? {
        state.withLock { state in
            let waiting = state.pendingOffers.values
            guard waiting.count < Self.offersOfAllMembers,
                waiting.count(where: { $0.peer == offer.peer }) < Self.offersOfOneMember
            else { return nil }
            state.next += 1
            let ending = Promise<Outcome>()
            state.pendingOffers[state.next] = PendingOffer(listener: listener, peer: offer.peer, ending: ending)
            return (state.next, ending)
        }
    }

    /// Ends an offer when the person's time has passed or the sender no longer waits.
    private func limitWait(for number: Int) async {
        do {
            try await Task.sleep(for: patience)
            end(number, as: .unanswered)
        } catch {
            end(number, as: .withdrawn)
        }
    }
}
