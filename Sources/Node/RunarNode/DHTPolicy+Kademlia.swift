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
        var policy = Kademlia.RequestPolicy(deadline: deadline, attempts: max(1, attempts))
        if takesFirst { policy.reading = .first }
        return policy
    }
}
