internal import Identity
internal import Testing

@Suite("A turn") struct TurnTests {
    @Test func `a turn appends to the effects of its caller`() {
        var effects = ["first"]
        Turn.run(at: 7, into: &effects) { turn in
            turn.emit("second")
            turn.emit("at \(turn.now)")
        }
        #expect(effects == ["first", "second", "at 7"])
    }

    @Test func `a turn does not reallocate an array with room`() {
        var effects: [Int] = []
        effects.reserveCapacity(4)
        let before = address(of: effects)
        Turn.run(at: 7, into: &effects) { turn in for effect in 1...4 { turn.emit(effect) } }
        #expect(effects == [1, 2, 3, 4])
        #expect(address(of: effects) == before)
    }

    private func address(of effects: [Int]) -> UInt {
        unsafe effects.withUnsafeBufferPointer { buffer in UInt(bitPattern: buffer.baseAddress) }
    }
}
