internal import Concurrency
internal import Identity
internal import Kademlia
internal import NodeCore
internal import Traversal

/// The outcomes in the core that tasks wait for.
struct PendingOutcomes: Sendable {
    typealias Join = Promise<Result<JoinGrant, any Error>>
    typealias TableRequest = Promise<Result<TableAnswer, any Error>>

    private struct PendingJoin: Sendable {
        let onPending: @Sendable (_ digits: String) -> Void
        let outcome: Join
    }

    /// The waits until peers are admitted.
    var admissions = AdmissionWaiters()
    /// The joins under way, by inviter.
    private var joins: [PeerId: PendingJoin] = [:]
    private var tableRequests: [Kademlia.RequestId: TableRequest] = [:]
    private var tableRequestCount: UInt64 = 0
    /// The filtering of this device's NAT, while it is being determined.
    private var filtering: Promise<FilteringBehaviour>?

    // MARK: Joins

    /// Adds a join; nil when another one through the same inviter is under way.
    mutating func addJoin(
        through inviter: PeerId,
        onPending: @escaping @Sendable (_ digits: String) -> Void
    ) -> Join? {
        guard self.joins[inviter] == nil else { return nil }
        let outcome = Join()
        self.joins[inviter] = PendingJoin(onPending: onPending, outcome: outcome)
        return outcome
    }

    /// Reports the digits that both devices show while the inviter decides.
    func noteJoinPending(through inviter: PeerId, digits: String) { self.joins[inviter]?.onPending(digits) }

    /// Ends a join.
    mutating func endJoin(through inviter: PeerId, _ result: Result<JoinGrant, any Error>) {
        self.joins.removeValue(forKey: inviter)?.outcome.fulfil(result)
    }

    /// Removes a join after the cancellation of its task; false when it ended before.
    mutating func removeJoin(through inviter: PeerId, _ outcome: Join) -> Bool {
        guard self.joins[inviter]?.outcome === outcome else { return false }
        self.joins[inviter] = nil
        return true
    }

    // MARK: Requests to hash tables

    /// The id of a new request.
    mutating func makeTableRequestId() -> Kademlia.RequestId {
        self.tableRequestCount += 1
        return Kademlia.RequestId(self.tableRequestCount)
    }

    /// Adds a request.
    mutating func addTableRequest(_ id: Kademlia.RequestId) -> TableRequest {
        let answer = TableRequest()
        self.tableRequests[id] = answer
        return answer
    }

    /// Ends a request.
    mutating func endTableRequest(_ id: Kademlia.RequestId, _ answer: TableAnswer) {
        self.tableRequests.removeValue(forKey: id)?.fulfil(.success(answer))
    }

    /// Removes a request after the cancellation of its task; false when it ended before.
    mutating func removeTableRequest(_ id: Kademlia.RequestId) -> Bool {
        self.tableRequests.removeValue(forKey: id) != nil
    }

    // MARK: Filtering

    /// Adds a wait for the filtering of this device's NAT; all waits share one promise.
    mutating func addFilteringTest() -> Promise<FilteringBehaviour> {
        let answer = self.filtering ?? Promise()
        self.filtering = answer
        return answer
    }

    /// Ends the waits for the filtering.
    mutating func endFilteringTest(_ behaviour: FilteringBehaviour) {
        self.filtering?.fulfil(behaviour)
        self.filtering = nil
    }

    // MARK: The stop

    /// Ends all joins.
    mutating func failJoins(_ error: NodeError) {
        for inviter in Array(self.joins.keys) { self.endJoin(through: inviter, .failure(error)) }
    }

    /// Ends all waits.
    mutating func failAll(_ error: NodeError) {
        self.failJoins(error)
        self.admissions.failAll(error)
        for request in self.tableRequests.values { request.fulfil(.failure(error)) }
        self.tableRequests = [:]
        self.endFilteringTest(.unknown(.noAnswer))
    }
}
