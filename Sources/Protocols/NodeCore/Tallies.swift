/// The counters of a node for metrics; the node decides nothing by them.
package struct Tallies: Hashable, Sendable {
    /// Networks of which it is a member.
    package var networks = 0
    /// Tokens of peers that were checked so far.
    package var tokenChecks = 0
    /// The checks that failed.
    package var tokenCheckFailures = 0

    package init() {}
}
