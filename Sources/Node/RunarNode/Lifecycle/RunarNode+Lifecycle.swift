internal import Concurrency
internal import Node
internal import NodeCore
internal import Platform

// What an app tells its node of the machine, by whichever means its system has.
extension RunarNode {
    /// How long ``drain(within:)`` waits unless it is told otherwise: shorter than what systems allow a service.
    public static let drainPatience = Duration.seconds(10)

    /// There is a network, again or another one: ways to connected peers are looked at anew, and the others are dialled at
    /// once, however often that failed.
    public func networkAvailable() {
        self.change { $0.hasNetwork = true }
        if let driver = self.phases.driver { driver.noteResumed() }
    }

    /// There is no network: nobody is dialled who is not asked for, until ``networkAvailable()``.
    ///
    /// Connections are kept, because most networks come back.
    public func networkUnavailable() {
        self.change { $0.hasNetwork = false }
    }

    /// The system may end this program for want of memory: everything that can be had again is given back, caches
    /// included.
    public func handleMemoryWarning() {
        self.tables.clear()
        for hosted in self.services.services { hosted.answers.clear() }
        self.giveBackMemory()
    }

    /// The system would like some memory: what is hardly used is given back.
    ///
    /// Caches stay.
    public func optimizeMemoryUsage() {
        self.giveBackMemory()
    }

    /// Does only what somebody asks for, until ``resumeOperations()``.
    ///
    /// Nothing is said on the local network, and peers are not sought. Connections, subscriptions and services go on.
    public func reduceOperations() {
        self.change { $0.isReduced = true }
    }

    /// Does everything again.
    public func resumeOperations() {
        self.change { $0.isReduced = false }
    }

    /// Begins nothing new with peers, lets what is under way end for as long as `patience`, and stops.
    ///
    /// - Parameter patience: What is still under way then is cut off. What is left of it, or else a second, is for services
    ///   to stop, see ``stop(within:)``.
    public func drain(within patience: Duration = RunarNode.drainPatience) async {
        let deadline = self.clock.now().monotonic + patience
        if let driver = self.phases.driver { await driver.retire(within: patience) }
        await self.stop(within: max(deadline - self.clock.now().monotonic, .seconds(1)))
    }

    /// Whether the node runs and does what it has to do; returns when that is certain.
    package func isResponsive() async -> Bool {
        guard let driver = self.phases.driver else { return false }
        return await driver.isResponsive()
    }

    /// Whether a start is under way that no stop has overtaken.
    var isStarting: Bool {
        self.phases.isStarting
    }

    /// Tells a driver that has just started.
    func tellConditions(to driver: NodeDriver) {
        self.settings.conditions.withLock { if $0 != Conditions() { driver.adapt(to: $0) } }
    }

    private func change(_ body: (inout Conditions) -> Void) {
        self.settings.conditions.withLock { conditions in
            body(&conditions)
            // Here, so that of two changes the last one stays.
            if let driver = self.phases.driver { driver.adapt(to: conditions) }
        }
    }

    private func giveBackMemory() {
        self.store.releaseMemory()
        if let driver = self.phases.driver {
            driver.freeMemory()
        } else {
            SystemMemory.giveBack()
        }
    }
}
