/// One input of a protocol value in progress: the time of the input, and the effects so far, in order.
///
/// The entry point of a protocol makes the turn and passes it to each function that emits an effect. A function that needs
/// only the time takes that instead. A turn cannot be copied: the caller's array of effects is moved into it and back.
///
/// `@usableFromInline` serialises the bodies: the compiler specialises a turn only in a module that sees them.
@usableFromInline package struct Turn<Instant, Effect>: ~Copyable {
    /// The time of the input; the same during the whole turn.
    @usableFromInline package let now: Instant
    @usableFromInline internal var effects: [Effect]

    @inlinable internal init(at now: Instant) {
        self.now = now
        effects = []
    }

    /// Runs `body` with a turn at `now`, and appends the effects that it emits to `effects`.
    @inlinable package static func run(
        at now: Instant,
        into effects: inout [Effect],
        _ body: (inout Turn<Instant, Effect>) -> Void
    ) {
        var turn = Turn(at: now)
        swap(&turn.effects, &effects)
        body(&turn)
        swap(&turn.effects, &effects)
    }

    /// Appends an action for the caller, which performs the effects in order.
    @inlinable package mutating func emit(_ effect: Effect) { effects.append(effect) }
}
