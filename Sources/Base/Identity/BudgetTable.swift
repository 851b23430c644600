/// The budgets of peers by their ids.
///
/// Budgets of peers that disconnected are kept, within a limit: a new connection starts with the rest.
package struct BudgetTable<Budget: Sendable>: Sendable {
    /// The most budgets of disconnected peers that are kept: more than connect and disconnect during one refill.
    package static var departedLimit: Int { 1024 }

    private let full: Budget
    private var budgets: [PeerId: Budget] = [:]
    /// The disconnected peers that have a budget, in the order of their disconnects.
    private var departed: [PeerId] = []

    /// Creates a table in which every peer has a full budget.
    package init(full: Budget) { self.full = full }

    package subscript(peer: PeerId) -> Budget {
        get { budgets[peer] ?? full }
        _modify {
            let full = full
            yield &budgets[peer, default: full]
        }
    }

    /// Notes that a peer connected.
    package mutating func connect(_ peer: PeerId) {
        guard budgets[peer] != nil else { return }
        departed.removeAll { $0 == peer }
    }

    /// Notes that a peer disconnected.
    package mutating func disconnect(_ peer: PeerId) {
        guard budgets[peer] != nil, !departed.contains(peer) else { return }
        departed.append(peer)
        if departed.count > Self.departedLimit { budgets[departed.removeFirst()] = nil }
    }

    /// Forgets a peer that will not reconnect.
    package mutating func remove(_ peer: PeerId) {
        budgets[peer] = nil
        departed.removeAll { $0 == peer }
    }
}
