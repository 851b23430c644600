/// The work that an image may cause: a count of steps instead of a clock, so that the result is reproducible.
///
/// One step is about one sample of a pixel. A single pass through every pixel is not counted: it is bounded by the image's
/// size.
struct WorkBudget {
    private(set) var stepsLeft: Int

    init(steps: Int) { stepsLeft = steps }

    var isSpent: Bool { stepsLeft <= 0 }

    mutating func spend(_ steps: Int) { stepsLeft -= steps }
}
