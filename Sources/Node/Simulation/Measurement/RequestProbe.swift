internal import Kademlia

/// The costs of requests to the hash table, and the correctness of their results.
struct RequestProbe {
    /// One kind of request.
    struct Kind {
        private var latency = Samples()
        private var firstResult = Samples()
        private var hops = Samples()
        private var queries = Samples()
        private var correct = 0
        private var finished = 0
        /// The number of requests that ended with each failure.
        private var failures: [String: Int] = [:]
        /// The number of requests that their node abandoned because it stopped.
        fileprivate(set) var abandoned = 0

        var isUsed: Bool { finished + abandoned > 0 }

        mutating func note(_ effort: Kademlia.Effort, after nanoseconds: Int64, isCorrect: Bool) {
            finished += 1
            if isCorrect { correct += 1 }
            latency.add(nanoseconds)
            hops.add(Int64(effort.hops))
            queries.add(Int64(effort.queries))
            if let first = effort.firstResult { firstResult.add(first.nanoseconds) }
        }

        mutating func noteFailure(_ error: KademliaError) {
            finished += 1
            failures[error.name, default: 0] += 1
        }

        func add(_ name: String, to figures: inout Figures) {
            guard isUsed else { return }
            figures.add(name, latency)
            figures.add(name + "First", firstResult)
            figures.add(counts: name + "Hops", hops)
            figures.add(counts: name + "Questions", queries)
            figures[name + "Abandoned"] = Double(abandoned)
            figures[name + "CorrectShare"] = Double(correct) / Double(max(finished, 1))
            figures[name + "Failed"] = Double(failures.values.reduce(0, +))
            for (failure, count) in failures { figures[name + "Failed" + failure] = Double(count) }
        }
    }

    private var puts = Kind()
    private var gets = Kind()
    private var lookups = Kind()
    /// Other nodes at which a record stood when its put was done.
    private var replicas = Samples()
    /// The number of the true nearest that a lookup found.
    private var overlap = Samples()
    /// Reads that found nothing, and those that found something old.
    private var missing = 0
    private var stale = 0

    // MARK: Outcomes

    mutating func notePut(_ effort: Kademlia.Effort, after delay: Int64, replicas: Int) {
        puts.note(effort, after: delay, isCorrect: true)
        self.replicas.add(Int64(replicas))
    }

    /// Records the version that a read found, if any, and the one that was stored when it began.
    mutating func noteGet(_ effort: Kademlia.Effort, after delay: Int64, found: UInt64?, expected: UInt64) {
        gets.note(effort, after: delay, isCorrect: found.map { $0 >= expected } ?? false)
        if let found { stale += found < expected ? 1 : 0 } else { missing += 1 }
    }

    mutating func noteLookup(_ effort: Kademlia.Effort, after delay: Int64, overlap: Int, isCorrect: Bool) {
        lookups.note(effort, after: delay, isCorrect: isCorrect)
        self.overlap.add(Int64(overlap))
    }

    mutating func noteFailure(of purpose: RunningRequest.Purpose, _ error: KademliaError) {
        switch purpose {
        case .put: puts.noteFailure(error)
        case .get: gets.noteFailure(error)
        case .lookup: lookups.noteFailure(error)
        }
    }

    mutating func noteAbandoned(_ purpose: RunningRequest.Purpose) {
        switch purpose {
        case .put: puts.abandoned += 1
        case .get: gets.abandoned += 1
        case .lookup: lookups.abandoned += 1
        }
    }

    // MARK: Figures

    func add(to figures: inout Figures) {
        puts.add("dhtPut", to: &figures)
        gets.add("dhtGet", to: &figures)
        lookups.add("dhtLookup", to: &figures)
        figures.add(counts: "dhtPutHolders", replicas, badIsLow: true)
        figures.add(counts: "dhtLookupOverlap", overlap, badIsLow: true)
        if gets.isUsed {
            figures["dhtGetMissing"] = Double(missing)
            figures["dhtGetStale"] = Double(stale)
        }
    }
}

extension KademliaError {
    /// The case as a part of a figure's name.
    fileprivate var name: String {
        switch self {
        case .timedOut: "TimedOut"
        case .isolated: "Isolated"
        case .conflict: "Conflict"
        case .overQuota: "OverQuota"
        case .notStored: "NotStored"
        case .clockDiffers: "ClockDiffers"
        case .tooManyRequests: "TooManyRequests"
        case .notAMember: "NotAMember"
        case .stopped: "Stopped"
        case .valueTooLarge, .invalidKey, .invalidLifetime, .signingFailed, .switchedOff: "Refused"
        }
    }
}
