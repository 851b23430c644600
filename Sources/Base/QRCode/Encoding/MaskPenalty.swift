/// The penalty of a matrix by the four rules of ISO/IEC 18004, 7.8.3.1; the mask with the least is chosen.
struct MaskPenalty: Equatable {
    /// Five or more modules of one colour in a line: 3, and 1 for each beyond five.
    private(set) var runs = 0
    /// Each square of two by two modules of one colour: 3.
    private(set) var squares = 0
    /// Each 1:1:3:1:1 of dark, light, dark, light, dark next to four light modules, as in a finder pattern: 40.
    ///
    /// The quiet zone counts as light, because it looks so to a reader.
    private(set) var finderLikes = 0
    /// Each full 5 % by which the share of dark modules differs from one half: 10.
    private(set) var imbalance = 0

    /// All four together.
    var total: Int { runs + squares + finderLikes + imbalance }

    /// Rates a square of modules, given row by row.
    init(of modules: [Bool], size: Int) {
        var lengths: [Int] = []
        for line in 0..<size {
            evaluate(modules, from: line * size, step: 1, size: size, lengths: &lengths)
            evaluate(modules, from: line, step: size, size: size, lengths: &lengths)
        }
        for row in 0..<size - 1 {
            for index in row * size..<(row + 1) * size - 1 {
                let isDark = modules[index]
                guard modules[index + 1] == isDark, modules[index + size] == isDark else { continue }
                if modules[index + size + 1] == isDark { squares += 3 }
            }
        }
        var darkCount = 0
        for isDark in modules where isDark { darkCount += 1 }
        imbalance = 10 * (abs(2 * darkCount - modules.count) * 10 / modules.count)
    }

    /// Rates one row or column by the lengths of its runs, the first and the last of which are light, if of length 0.
    private mutating func evaluate(_ modules: [Bool], from start: Int, step: Int, size: Int, lengths: inout [Int]) {
        lengths.removeAll(keepingCapacity: true)
        var isDark = false
        var length = 0
        for place in 0..<size {
            if modules[start + place * step] == isDark {
                length += 1
            } else {
                lengths.append(length)
                isDark.toggle()
                length = 1
            }
        }
        lengths.append(length)
        if isDark { lengths.append(0) }
        for length in lengths where length >= 5 { runs += length - 2 }
        lengths[0] += QRSymbol.quietZone
        lengths[lengths.count - 1] += QRSymbol.quietZone
        guard lengths.count >= 7 else { return }
        for first in stride(from: 1, through: lengths.count - 6, by: 2)
        where lengths[first] == 1 && lengths[first + 1] == 1 && lengths[first + 2] == 3 && lengths[first + 3] == 1
            && lengths[first + 4] == 1
        {
            if lengths[first - 1] >= 4 || lengths[first + 5] >= 4 { finderLikes += 40 }
        }
    }
}
