/// The pauses between requests to an issuer: short ones, each twice the former, until its keys are known.
struct IssuerPauses {
    /// The longest pause while no keys are known.
    static let longest = Duration.seconds(60)

    private var pause: Duration

    /// Begins with a pause.
    init(first: Duration) {
        pause = first
    }

    /// Returns the next pause: ``IssuerKeys/period`` if the keys are known.
    mutating func next(hasKeys: Bool) -> Duration {
        guard !hasKeys else { return IssuerKeys.period }
        defer { pause = min(pause * 2, Self.longest) }
        return min(pause, Self.longest)
    }
}
