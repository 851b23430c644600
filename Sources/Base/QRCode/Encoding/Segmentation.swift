/// A part of a message in one mode.
struct Segment: Equatable {
    let mode: SegmentMode
    let bytes: ArraySlice<UInt8>
}

/// The division of a message into segments that takes the fewest bits.
///
/// It is a shortest path through the message, byte by byte. A state is the mode of a byte and its place in the group that
/// the mode encodes together (three digits, two characters), so that each step costs whole bits: 4, 3 and 3 for digits, 6
/// and 5 for characters, 8 for bytes. A step either continues the segment or opens a new one at the cost of its header.
struct Segmentation {
    /// The segments, in order.
    private(set) var segments: [Segment] = []
    /// The number of bits that they take, headers included.
    private(set) var bitCount = 0

    /// A mode and a place in its group.
    private struct State {
        let mode: SegmentMode
        /// The bits that a byte adds which arrives here.
        let cost: Int
        /// The state of the byte before it in the same segment.
        let previous: Int
        /// Whether a segment can begin here.
        let opens: Bool
    }

    private static let states = [
        State(mode: .byte, cost: 8, previous: 0, opens: true),
        State(mode: .alphanumeric, cost: 6, previous: 2, opens: true),
        State(mode: .alphanumeric, cost: 5, previous: 1, opens: false),
        State(mode: .numeric, cost: 4, previous: 5, opens: true),
        State(mode: .numeric, cost: 3, previous: 3, opens: false),
        State(mode: .numeric, cost: 3, previous: 4, opens: false),
    ]

    /// More than any message costs, and far from overflowing when a step is added.
    private static let unreachable = Int.max / 2

    /// Divides a message for symbols whose character counts are as wide as those of `version`.
    init(of bytes: [UInt8], in version: QRVersion) {
        guard !bytes.isEmpty else { return }
        let headers = Self.states.map { SegmentMode.indicatorWidth + ($0.mode.countWidth(in: version) ?? 0) }
        var costs = [Int](repeating: Self.unreachable, count: Self.states.count)
        // For each byte and state, the state of the byte before; one of another segment is counted from 8 on.
        var origins: [UInt8] = []
        var (cheapest, least) = (0, 0)
        for byte in bytes {
            var next = [Int](repeating: Self.unreachable, count: Self.states.count)
            for (number, state) in Self.states.enumerated() {
                var origin = state.previous
                if byte.fits(state.mode) {
                    next[number] = costs[origin] + state.cost
                    if state.opens, least + headers[number] + state.cost < next[number] {
                        next[number] = least + headers[number] + state.cost
                        origin = 8 + cheapest
                    }
                }
                origins.append(UInt8(origin))
            }
            costs = next
            cheapest = costs.indices.min { costs[$0] < costs[$1] } ?? 0
            least = costs[cheapest]
        }
        bitCount = least
        segments = Self.trace(origins, from: cheapest, through: bytes)
    }

    /// Walks the cheapest path backwards and cuts the message where it opened segments.
    private static func trace(_ origins: [UInt8], from last: Int, through bytes: [UInt8]) -> [Segment] {
        var segments: [Segment] = []
        var (state, end) = (last, bytes.count)
        for index in bytes.indices.reversed() {
            let origin = Int(origins[index * states.count + state])
            if origin >= 8 {
                segments.append(Segment(mode: states[state].mode, bytes: bytes[index..<end]))
                end = index
            }
            state = origin & 7
        }
        return segments.reversed()
    }
}

extension UInt8 {
    /// Whether a segment of this mode can hold the byte.
    fileprivate func fits(_ mode: SegmentMode) -> Bool {
        switch mode {
        case .numeric: 0x30...0x39 ~= self
        case .alphanumeric: AlphanumericTable.value(of: self) != nil
        default: true
        }
    }
}
