#if canImport(Darwin)
internal import Darwin

/// Overwrites memory with zeros in a way that the compiler may not leave out.
package func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress else {
        return
    }
    _ = unsafe memset_s(start, memory.count, 0, memory.count)
}
#endif
