#if os(Linux)
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// Overwrites memory with zeros in a way that the compiler may not leave out.
package func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress else {
        return
    }
    unsafe explicit_bzero(start, memory.count)
}
#endif
