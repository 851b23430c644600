/// A connection's place in a ``TimerHeap``.
protocol TimerHeapElement: AnyObject {
    /// When it wants to be called, in nanoseconds.
    var deadline: UInt64 { get set }
    /// Where it stands in the heap; -1 when it does not.
    var heapIndex: Int { get set }
}

/// The earliest deadline of many, with one entry per element that moves when its deadline does.
struct TimerHeap<Element: TimerHeapElement> {
    private var elements: [Element] = []

    /// How many elements wait.
    var count: Int { elements.count }

    /// All of them, in no order.
    var all: [Element] { elements }

    /// The element that comes first.
    var first: Element? { elements.first }

    /// Puts `element` where `deadline` belongs, whether it was in the heap or not.
    mutating func set(_ element: Element, deadline: UInt64) {
        let before = element.deadline
        element.deadline = deadline
        guard element.heapIndex >= 0 else {
            element.heapIndex = elements.count
            elements.append(element)
            return rise(from: element.heapIndex)
        }
        if deadline < before { rise(from: element.heapIndex) } else { sink(from: element.heapIndex) }
    }

    /// Takes `element` out.
    mutating func remove(_ element: Element) {
        let index = element.heapIndex
        guard index >= 0 else { return }
        let last = elements.count - 1
        if index != last { swap(index, last) }
        elements.removeLast()
        element.heapIndex = -1
        guard index < elements.count else { return }
        rise(from: index)
        sink(from: index)
    }

    private mutating func swap(_ left: Int, _ right: Int) {
        elements.swapAt(left, right)
        elements[left].heapIndex = left
        elements[right].heapIndex = right
    }

    private mutating func rise(from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard elements[index].deadline < elements[parent].deadline else { return }
            swap(index, parent)
            index = parent
        }
    }

    private mutating func sink(from start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < elements.count {
                if elements[child].deadline < elements[least].deadline { least = child }
            }
            guard least != index else { return }
            swap(index, least)
            index = least
        }
    }
}
