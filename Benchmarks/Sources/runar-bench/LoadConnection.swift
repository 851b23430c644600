internal import Libc

/// A connection to the measured server that stays open, with at most one request in progress.
final class LoadConnection {
    private static let chunkByteCount = 16_384
    private static let headEnd = Array("\r\n\r\n".utf8)
    private static let lengthField = Array("content-length:".utf8)
    private static let space = UInt8(ascii: " ")

    let descriptor: Int32
    private var received: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: chunkByteCount)

    /// Connects to a port of the loopback address.
    init(port: UInt16) throws {
        descriptor = makeSocket(AF_INET, Int32(SOCK_STREAM), isBlocking: true)
        var address = sockaddr_in()
        address.setLength()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Libc.connect(descriptor, $0, size) == 0
            }
        }
        guard isConnected else { throw BenchError("no connection to port \(port)") }
        var isOn: Int32 = 1
        let width = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, width)
    }

    deinit { _ = Libc.close(descriptor) }

    /// Sends a request; it is smaller than the buffer of the socket.
    func send(_ request: [UInt8]) throws {
        let count = unsafe request.withUnsafeBytes { unsafe Libc.send(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == request.count else { throw BenchError("a request was not accepted at once") }
    }

    /// Reads the bytes that have arrived; returns the body of the answer once it is complete.
    func receive() throws -> [UInt8]? {
        let descriptor = descriptor
        let count = unsafe chunk.withUnsafeMutableBytes {
            unsafe Libc.recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
        }
        guard count > 0 else { throw BenchError("the server ended a connection") }
        received += chunk[..<count]
        guard let headEnd = Self.end(of: Self.headEnd, in: received[...]) else { return nil }
        guard let lengthEnd = Self.end(of: Self.lengthField, in: received[..<headEnd]) else {
            throw BenchError("an answer without a length")
        }
        let length = received[lengthEnd...].drop { $0 == Self.space }.prefix { $0 >= 0x30 && $0 <= 0x39 }
            .reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard received.count >= headEnd + length else { return nil }
        let body = Array(received[headEnd...])
        let isSuccess = received.count > 12 && received[9] == UInt8(ascii: "2")
        received.removeAll(keepingCapacity: true)
        guard isSuccess else { throw BenchError("refused: \(String(decoding: body, as: UTF8.self))") }
        return body
    }

    /// The index after the first occurrence of `pattern`, whose letters are small; their case is ignored.
    private static func end(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        for start in bytes.startIndex...(bytes.endIndex - pattern.count) {
            var matched = 0
            while matched < pattern.count, folded(bytes[start + matched]) == pattern[matched] { matched += 1 }
            if matched == pattern.count { return start + matched }
        }
        return nil
    }

    private static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
