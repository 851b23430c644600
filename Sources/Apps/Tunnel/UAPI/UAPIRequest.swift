internal import Bytes

/// A request of the configuration protocol.
enum UAPIRequest: Equatable {
    /// The most bytes of a request; 20,000 peers with a prefix each have less than 5 MB.
    static let byteLimit = 8 << 20

    /// Returns the whole state of the device.
    case get
    /// Changes the device.
    case set(UAPIConfiguration)

    /// Returns the number of bytes of the first request in `bytes`, up to its blank line, from `start`; nil if it is
    /// incomplete.
    ///
    /// `start` skips bytes that an earlier call has searched.
    static func byteCount(in bytes: [UInt8], searchedBefore start: Int = 0) -> Int? {
        var index = max(1, start)
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\n"), bytes[index - 1] == UInt8(ascii: "\n") { return index + 1 }
            index += 1
        }
        return nil
    }

    /// Reads a whole request with its blank line; nil for a first line that is neither `get=1` nor `set=1`, after which
    /// the connection must be closed.
    init?(_ bytes: [UInt8]) throws(UAPIRefusal) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        switch lines.popFirst().map({ String(decoding: $0, as: UTF8.self) }) {
        case "get=1":
            guard lines.first?.isEmpty ?? false else { throw .invalid }
            self = .get
        case "set=1": self = .set(try UAPIConfiguration(lines: lines.prefix { !$0.isEmpty }))
        case _: return nil
        }
    }

    /// The bytes of the request, which may contain private keys: wipe them after use.
    var bytes: [UInt8] {
        var writer = UAPIWriter()
        switch self {
        case .get:
            writer.line("get", "1")
            writer.end()
        case .set(let configuration): configuration.write(to: &writer)
        }
        return writer.bytes
    }
}
