#if os(Linux)
internal import Bytes
internal import CryptoPrimitives
internal import Glibc
internal import TestSupport
internal import Testing
internal import WireGuard

@testable internal import Tunnel

/// A sequence of bytes that is searched for in the memory of this process, freed memory included.
@safe
private final class MemorySearch {
    private static let windowByteCount = 1 << 20

    /// The sequence and the window for the memory, in pages of their own that are not searched.
    private let room: UnsafeMutableRawPointer
    private let needleByteCount: Int
    private let areas: [Range<UInt>]

    /// Prepares the search for `count` bytes that `byte` returns one by one, in the present areas of writable memory.
    init(count: Int, _ byte: (Int) -> UInt8) throws {
        let flags = Int32(MAP_SHARED | MAP_ANONYMOUS)
        let room = unsafe mmap(nil, 2 * Self.windowByteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
        unsafe self.room = try #require(unsafe room)
        needleByteCount = count
        for index in 0..<count {
            unsafe self.room.storeBytes(of: byte(index), toByteOffset: index, as: UInt8.self)
        }
        areas = try NetworkSpaces.run("cat /proc/\(getpid())/maps").split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            return fields[1] == "rw-p" ? ends[0]..<ends[1] : nil
        }
    }

    deinit { unsafe munmap(room, 2 * Self.windowByteCount) }

    /// The number of areas that contain the sequence; allocates little, since that could overwrite freed memory.
    func count() throws -> Int {
        let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        try #require(memory >= 0)
        defer { close(memory) }
        return areas.count { contains(from: $0.lowerBound, to: $0.upperBound, in: memory) }
    }

    private func contains(from first: UInt, to end: UInt, in memory: Int32) -> Bool {
        let window = unsafe room + Self.windowByteCount
        // Windows overlap, so that a sequence at their border is found.
        for start in stride(from: first, to: end, by: Self.windowByteCount - needleByteCount) {
            let wanted = min(Int(end - start), Self.windowByteCount)
            let count = unsafe pread(memory, window, wanted, off_t(start))
            // An area that another thread has removed cannot be read.
            if count > 0, unsafe contains(window, count) { return true }
        }
        return false
    }

    private func contains(_ start: UnsafeRawPointer, _ count: Int) -> Bool {
        let first = Int32(unsafe room.load(as: UInt8.self))
        let end = unsafe start + max(count - needleByteCount + 1, 0)
        var place = unsafe start
        while unsafe place < end, let found = unsafe memchr(place, first, end - place) {
            if unsafe memcmp(found, room, needleByteCount) == 0 { return true }
            unsafe place = UnsafeRawPointer(found) + 1
        }
        return false
    }
}

/// The memory after requests with secret keys.
@Suite("Configuration memory", .timeLimit(.minutes(5))) struct UAPIMemoryTests {
    private static let digits = [UInt8]("0123456789abcdef".utf8)

    /// The value of a hexadecimal digit of a key that only this test has; the random numbers are those of a seed.
    private static func value(at place: Int, of seed: UInt64) -> UInt8 {
        var random = SplitMix64(seed: seed &+ UInt64(place))
        return UInt8(random.next() % 16)
    }

    /// The search for the middle of a key's digits; freed memory loses its first bytes.
    private func search(_ seed: UInt64) throws -> MemorySearch {
        try MemorySearch(count: 24) { Self.digits[Int(Self.value(at: $0 + 36, of: seed))] }
    }

    @Test func `the digits of a key that was read are nowhere in memory`() throws {
        let seed: UInt64 = 1_000_000
        var bytes = [UInt8]("set=1\nprivate_key=".utf8)
        bytes.reserveCapacity(256)
        for place in 0..<64 { bytes.append(Self.digits[Int(Self.value(at: place, of: seed))]) }
        bytes += "\n\n".utf8
        let search = try search(seed)
        #expect(try search.count() == 1)
        let request = try UAPIRequest(bytes)
        bytes.wipe()
        let count = try search.count()
        #expect(request != nil && count == 0)
    }

    @Test func `the digits of a key that was written are nowhere in memory`() throws {
        let seed: UInt64 = 2_000_000
        var key = (0..<32).map { Self.value(at: 2 * $0, of: seed) << 4 | Self.value(at: 2 * $0 + 1, of: seed) }
        // The request grows several times after the key, and each time its bytes move.
        var configuration = UAPIConfiguration()
        let peer = try X25519PublicKey(rawRepresentation: [UInt8](repeating: 9, count: 32))
        configuration.peers = (0..<2_000).map { _ in UAPIConfiguration.PeerChange(publicKey: peer) }
        configuration.peers[200].presharedKey = try PresharedKey(SecretBytes(consuming: &key))
        let search = try search(seed)
        var written = UAPIRequest.set(configuration).bytes
        written.wipe()
        #expect(try search.count() == 0)
    }
}
#endif
