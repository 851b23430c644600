/// The number that the driver gave to a connection; never used twice in one run.
package struct ConnectionId: Hashable, Comparable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) {
        self.number = number
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.number < right.number
    }
}
