/// Comparisons whose duration depends on lengths only, for values that an attacker must not learn byte by byte.
package enum ConstantTime {
    /// Whether both hold the same bytes; different lengths give the result at once.
    package static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else {
            return false
        }
        var difference: UInt8 = 0
        for (one, other) in zip(left, right) {
            difference |= one ^ other
        }
        return difference == 0
    }
}
