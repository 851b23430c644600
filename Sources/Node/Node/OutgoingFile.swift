internal import Crypto
internal import Platform

/// A file on its way out, hashed before it is offered.
struct OutgoingFile {
    let byteCount: UInt64
    let sha256: [UInt8]
    private let path: String
    private let fileSystem = SystemFileSystem()
    private let descriptor: Int32

    init(path: String) throws(FileError) {
        self.path = path
        (byteCount, sha256) = try Self.summary(of: path, fileSystem)
        descriptor = try fileSystem.open(path, for: .reading)
    }

    private static func summary(
        of path: String,
        _ fileSystem: SystemFileSystem
    ) throws(FileError) -> (UInt64, [UInt8]) {
        let descriptor = try fileSystem.open(path, for: .reading)
        defer { fileSystem.close(descriptor) }
        var hash = SHA256()
        var count: UInt64 = 0
        while true {
            let chunk = try fileSystem.read(descriptor, count: 1 << 20, path: path)
            if chunk.isEmpty { return (count, Array(hash.finalize())) }
            hash.update(data: chunk)
            count += UInt64(chunk.count)
        }
    }

    /// Skips the bytes that the receiver has already.
    func skip(_ count: UInt64) throws(FileError) {
        var left = count
        while left > 0 {
            let chunk = try read(count: Int(min(left, 1 << 20)))
            if chunk.isEmpty { return }
            left -= UInt64(chunk.count)
        }
    }

    func read(count: Int) throws(FileError) -> [UInt8] {
        try fileSystem.read(descriptor, count: count, path: path)
    }

    func close() {
        fileSystem.close(descriptor)
    }
}
