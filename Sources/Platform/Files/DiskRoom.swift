internal import Libc

/// The room on the disk of a directory, in bytes.
package struct DiskRoom: Hashable, Sendable {
    /// The bytes that a process without privileges can still write.
    package let available: UInt64
    /// The size of the file system.
    package let total: UInt64

    package init(available: UInt64, total: UInt64) {
        self.available = available
        self.total = total
    }
}

extension SystemFileSystem {
    /// The room on the disk of an open directory; nil on a file system that has no size, as some network volumes.
    package func room(in directory: Int32) -> DiskRoom? {
        var status = statvfs()
        guard unsafe fstatvfs(directory, &status) == 0, status.f_blocks > 0 else { return nil }
        let block = UInt64(max(status.f_frsize, 1))
        func bytes(_ blocks: UInt64) -> UInt64 {
            let (product, isTooLarge) = blocks.multipliedReportingOverflow(by: block)
            return isTooLarge ? UInt64(Int64.max) : min(product, UInt64(Int64.max))
        }
        return DiskRoom(available: bytes(UInt64(status.f_bavail)), total: bytes(UInt64(status.f_blocks)))
    }
}
