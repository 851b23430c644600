/// What a peer may ask for: so many times at once, and as often again as it is refilled, one every some seconds.
struct Allowance: Hashable, Sendable {
    private var spent: Int64 = 0
    /// The second of the last refill.
    private var since: Int64 = 0

    /// Takes one; false when there is none left.
    mutating func take(at now: Duration, of limit: Int, refillSeconds: Int64) -> Bool {
        let refills = (now.components.seconds - self.since) / refillSeconds
        if refills >= self.spent {
            self.spent = 0
            self.since = now.components.seconds
        } else if refills > 0 {
            self.spent -= refills
            self.since += refillSeconds * refills
        }
        guard self.spent < limit else { return false }
        self.spent += 1
        return true
    }
}
