/// The work that an image may cause: a count of steps and no clock, so that an image is read alike everywhere.
///
/// One step is about one look at a pixel. What goes through every pixel once is not counted: it is bounded by the
/// image's size.
struct WorkBudget {
    private(set) var stepsLeft: Int

    init(steps: Int) { stepsLeft = steps }

    var isSpent: Bool { stepsLeft <= 0 }

    mutating func spend(_ steps: Int) { stepsLeft -= steps }
}
