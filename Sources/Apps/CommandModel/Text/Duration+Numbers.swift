extension Duration {
    /// As a floating number of seconds, for people.
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
    /// Rounded down.
    package var milliseconds: Int { Int(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000) }

    /// Whole microseconds.
    package var microseconds: Int {
        let parts = components
        return Int(parts.seconds) * 1_000_000 + Int(parts.attoseconds / 1_000_000_000_000)
    }
}
