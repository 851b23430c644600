#if canImport(Darwin)
internal import Darwin

/// The memory of this process.
package enum SystemMemory {
    /// Gives pages that are not used back to the system, which matters when it is short of them.
    package static func giveBack() { _ = unsafe malloc_zone_pressure_relief(nil, 0) }
}
#endif
