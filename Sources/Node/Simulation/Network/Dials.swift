/// An attempt of a node to reach a peer at one of its addresses.
struct SimulatedDial {
    let node: UInt32
    let generation: UInt32
    let peerNumber: UInt32
    /// Attempts that have neither succeeded nor failed.
    var attemptsLeft: Int
    var isConnected = false
}

/// The dials under way; a dial is forgotten after the last of its attempts.
struct Dials {
    private var dials = Slab<SimulatedDial>()

    subscript(slot: UInt32) -> SimulatedDial? { dials[slot] }

    mutating func insert(_ dial: SimulatedDial) -> UInt32 { dials.insert(dial) }

    /// Ends an attempt that reached the peer; returns the dial if no attempt did before.
    mutating func succeed(_ slot: UInt32) -> SimulatedDial? {
        guard var dial = dials[slot] else { return nil }
        dial.attemptsLeft -= 1
        let isFirst = !dial.isConnected
        dial.isConnected = true
        settle(dial, in: slot)
        return isFirst ? dial : nil
    }

    /// Ends an attempt that did not reach the peer; returns the dial if that was the last one and none did.
    mutating func fail(_ slot: UInt32) -> SimulatedDial? {
        guard var dial = dials[slot] else { return nil }
        dial.attemptsLeft -= 1
        settle(dial, in: slot)
        return dial.attemptsLeft == 0 && !dial.isConnected ? dial : nil
    }

    private mutating func settle(_ dial: SimulatedDial, in slot: UInt32) {
        dials[slot] = dial
        if dial.attemptsLeft == 0 { _ = dials.remove(slot) }
    }
}
