internal import OrderedCollections

/// The requests of the application in flight, in the order of their arrival, with the timers of their deadlines.
struct PendingRequests: Sendable {
    /// Before another attempt.
    private static let pause = Duration.milliseconds(400)

    private let limit: Int
    private var requests: OrderedDictionary<Kademlia.RequestId, PendingRequest> = [:]

    init(limit: Int) {
        self.limit = limit
    }

    subscript(id: Kademlia.RequestId) -> PendingRequest? {
        get { requests[id] }
        _modify { yield &requests[id] }
    }

    var count: Int { requests.count }

    /// The oldest first.
    var ids: [Kademlia.RequestId] { Array(requests.keys) }

    /// Adds a request under a new id and arms the timer of its deadline; returns whether there was room.
    mutating func add(
        _ id: Kademlia.RequestId,
        _ request: PendingRequest,
        _ schedule: inout Schedule
    ) -> Bool {
        guard requests.count < limit, requests[id] == nil else { return false }
        schedule.arm(.request(id), at: request.deadlineAt)
        requests[id] = request
        return true
    }

    mutating func remove(_ id: Kademlia.RequestId) -> PendingRequest? { requests.removeValue(forKey: id) }

    /// Plans another attempt after a pause; returns false if the policy allows none in time.
    mutating func planAttempt(
        _ id: Kademlia.RequestId,
        after error: KademliaError,
        _ schedule: inout Schedule,
        at now: Duration
    ) -> Bool {
        let wakeAt = now + schedule.jittered(Self.pause)
        guard requests[id]?.pause(until: wakeAt, after: error) == true else { return false }
        schedule.arm(.request(id), at: wakeAt)
        return true
    }

    /// Ends the pause before another attempt, and arms the timer of the deadline again.
    mutating func resume(_ id: Kademlia.RequestId, _ schedule: inout Schedule) {
        requests[id]?.endPause()
        guard let deadlineAt = requests[id]?.deadlineAt else { return }
        schedule.arm(.request(id), at: deadlineAt)
    }
}
