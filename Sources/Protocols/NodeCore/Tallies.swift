/// What a node counts for whoever measures it; it decides nothing by them.
package struct Tallies: Hashable, Sendable {
    /// Networks of which it is a member.
    package var networks = 0
    /// Tokens of peers that were checked so far.
    package var tokenChecks = 0
    /// Those of them that were no good.
    package var tokenCheckFailures = 0

    package init() {}
}
