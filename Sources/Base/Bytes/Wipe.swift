internal import Libc

/// Overwrites memory with zeros in a way that the compiler may not leave out.
package func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress else {
        return
    }
    unsafe erase(start, memory.count)
}
