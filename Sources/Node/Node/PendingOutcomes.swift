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
        guard joins[inviter] == nil else { return nil }
        let outcome = Join()
        joins[inviter] = PendingJoin(onPending: onPending, outcome: outcome)
        return outcome
    }

    /// Reports the digits that both devices show while the inviter decides.
    func noteJoinPending(through inviter: PeerId, digits: String) { joins[inviter]?.onPending(digits) }

    /// Ends a join.
    mutating func endJoin(through inviter: PeerId, _ result: Result<JoinGrant, any Error>) {
        joins.removeValue(forKey: inviter)?.outcome.fulfil(result)
    }

    /// Removes a join after the cancellation of its task; false when it ended before.
    mutating func removeJoin(through inviter: PeerId, _ outcome: Join) -> Bool {
        guard joins[inviter]?.outcome === outcome else { return false }
        joins[inviter] = nil
        return true
    }

    // MARK: Requests to hash tables

    /// The id of a new request.
    mutating func makeTableRequestId() -> Kademlia.RequestId {
        tableRequestCount += 1
        return Kademlia.RequestId(tableRequestCount)
    }

    /// Adds a request.
    mutating func addTableRequest(_ id: Kademlia.RequestId) -> TableRequest {
        let answer = TableRequest()
        tableRequests[id] = answer
        return answer
    }

    /// Ends a request.
    mutating func endTableRequest(_ id: Kademlia.RequestId, _ answer: TableAnswer) {
        tableRequests.removeValue(forKey: id)?.fulfil(.success(answer))
    }

    /// Removes a request after the cancellation of its task; false when it ended before.
    mutating func removeTableRequest(_ id: Kademlia.RequestId) -> Bool {
        tableRequests.removeValue(forKey: id) != nil
    }

    // MARK: Filtering

    /// Adds a wait for the filtering of this device's NAT; all waits share one promise.
    mutating func addFilteringTest() -> Promise<FilteringBehaviour> {
        let answer = filtering ?? Promise()
        filtering = answer
        return answer
    }

    /// Ends the waits for the filtering.
    mutating func endFilteringTest(_ behaviour: FilteringBehaviour) {
        filtering?.fulfil(behaviour)
        filtering = nil
    }

    // MARK: The stop

    /// Ends all joins.
    mutating func failJoins(_ error: NodeError) {
        for inviter in Array(joins.keys) { endJoin(through: inviter, .failure(error)) }
    }

    /// Ends all waits.
    mutating func failAll(_ error: NodeError) {
        failJoins(error)
        admissions.failAll(error)
        for request in tableRequests.values { request.fulfil(.failure(error)) }
        tableRequests = [:]
        endFilteringTest(.unknown(.noAnswer))
    }
}
