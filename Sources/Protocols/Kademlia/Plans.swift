/// When each recurring piece of work is next due; nil when there is none.
struct Plans: Sendable {
    /// Compare the neighbourhood with what neighbours know.
    var neighbourhoodAt: Duration?
    /// Ask a new neighbour whom it knows.
    var newcomerAt: Duration?
    /// Look into the bucket that was not looked into for longest.
    var refreshAt: Duration?
    /// Offer records to members that came, or that took the place of one that went.
    var handOnAt: Duration?
    /// Let records expire, and see whether each still stands where it should.
    var recordsAt: Duration?
    /// Try those of whom this node has only heard.
    var hearsayAt: Duration?
    /// What a timer was armed for.
    var armedFor: Duration?

    var earliest: Duration? {
        [
            self.neighbourhoodAt, self.newcomerAt, self.refreshAt, self.handOnAt, self.recordsAt, self.hearsayAt,
        ].compactMap(\.self).min()
    }
}

/// A contact that this node was told of and has not met.
struct Hearsay: Sendable {
    var contact: Contact
    var failures = 0
    var nextTry: Duration
}
