/// An element's place in a ``TimerHeap``.
struct TimerEntry: Sendable {
    /// The time at which the element acts, in nanoseconds.
    fileprivate(set) var deadline: UInt64 = .max
    /// The index in the heap; -1 while the element is not in it.
    fileprivate var heapIndex = -1
}

/// An object that a ``TimerHeap`` orders by its deadline.
protocol TimerHeapElement: AnyObject {
    var timer: TimerEntry { get set }
}

/// The earliest deadline of many, with one entry per element that moves when its deadline does.
struct TimerHeap<Element: TimerHeapElement> {
    private var elements: [Element] = []

    /// The number of waiting elements.
    var count: Int { elements.count }

    /// All of them, in no order.
    var all: [Element] { elements }

    /// The element with the earliest deadline.
    var first: Element? { elements.first }

    /// Puts `element` where `deadline` belongs, whether it was in the heap or not.
    mutating func set(_ element: Element, deadline: UInt64) {
        let before = element.timer.deadline
        element.timer.deadline = deadline
        guard element.timer.heapIndex >= 0 else {
            element.timer.heapIndex = elements.count
            elements.append(element)
            return rise(from: element.timer.heapIndex)
        }
        if deadline < before { rise(from: element.timer.heapIndex) } else { sink(from: element.timer.heapIndex) }
    }

    /// Takes `element` out.
    mutating func remove(_ element: Element) {
        let index = element.timer.heapIndex
        guard index >= 0 else { return }
        let last = elements.count - 1
        if index != last { swap(index, last) }
        elements.removeLast()
        element.timer.heapIndex = -1
        guard index < elements.count else { return }
        rise(from: index)
        sink(from: index)
    }

    private mutating func swap(_ left: Int, _ right: Int) {
        elements.swapAt(left, right)
        elements[left].timer.heapIndex = left
        elements[right].timer.heapIndex = right
    }

    private mutating func rise(from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard elements[index].timer.deadline < elements[parent].timer.deadline else { return }
            swap(index, parent)
            index = parent
        }
    }

    private mutating func sink(from start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < elements.count {
                if elements[child].timer.deadline < elements[least].timer.deadline { least = child }
            }
            guard least != index else { return }
            swap(index, least)
            index = least
        }
    }
}
