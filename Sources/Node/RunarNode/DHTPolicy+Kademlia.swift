internal import Kademlia

extension DHTCondition {
    var condition: Kademlia.Condition {
        switch self {
        case .any: .any
        case .ifAbsent: .ifAbsent
        case .ifVersion(let version): .ifVersion(version)
        }
    }
}

extension DHTPolicy {
    var requestPolicy: Kademlia.RequestPolicy {
        var policy = Kademlia.RequestPolicy(deadline: self.deadline, attempts: max(1, self.attempts))
        if self.takesFirst { policy.reading = .first }
        return policy
    }
}
