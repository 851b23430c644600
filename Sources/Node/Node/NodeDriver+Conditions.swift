internal import Concurrency
internal import Identity
internal import Logging
package import NodeCore
internal import Platform
internal import Transport

// The machine sleeps and wakes, has more or less to spare, and the program that this node is part of comes to its end.
extension NodeDriver {
    /// A timer that comes later than this by more than a loaded machine explains: the machine was asleep.
    static let oversleep = Duration.seconds(5)

    /// Adapts to what can be spared for this node.
    package func adapt(to conditions: Conditions) {
        self.apply(.conditionsChanged(conditions))
    }

    /// The machine slept, or is elsewhere: ways are looked at anew, and peers are dialled without waiting.
    package func noteResumed() {
        self.endpoint.networkChanged()
        self.apply(.resumed)
    }

    /// Looks whether a timer came as late as only a machine wakes that was asleep.
    ///
    /// Time goes on meanwhile on the node's clock, so what fell due is due now, and nothing else tells.
    func noteWake(due time: Duration) {
        let late = self.configuration.clock.now().monotonic - time
        guard late > Self.oversleep else { return }
        self.configuration.logs[.lifecycle].info(
            "the machine slept for \(late.components.seconds) s: looking for peers again"
        )
        self.noteResumed()
    }

    /// Gives back memory that is not needed to go on.
    package func freeMemory() {
        self.state.withLock { $0.observations.freeMemory() }
        SystemMemory.giveBack()
    }

    /// Whether what this node has to do is being done; returns when that is certain.
    package func isResponsive() async -> Bool {
        let answer = Promise<Bool>()
        self.state.withLock { state in
            if state.lifecycle.isStopped { answer.fulfil(false) } else { self.jobs.add(.answer(answer)) }
        }
        return await answer.waitIgnoringCancellation()
    }

    // MARK: The end

    /// Begins nothing new with peers, and returns when all that is under way has ended, or after `patience`.
    ///
    /// Peers that ask for something meanwhile are told that this node goes away.
    package func retire(within patience: Duration) async {
        let clock = self.configuration.clock
        let deadline = clock.now().monotonic + patience
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForStreams() }
            group.addTask { try? await clock.sleep(deadline) }  // cut short when the streams have ended
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForStreams() async {
        let lastStreamEnded = self.state.withLock { $0.lifecycle.drain(hasStreams: !$0.connections.isAtRest) }
        try? await lastStreamEnded?.wait()  // cancelled when the patience is over
    }
}
