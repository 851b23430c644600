internal import Bytes

/// The user name of a probe: the session in hexadecimal, and 0 for the caller or dialler, 1 for the other side.
///
/// The digit keeps an attacker from sending a side its own probes back as the other one's.
struct ProbeName: Sendable {
    let session: SessionId
    let isFirst: Bool

    init(_ session: SessionId, isFirst: Bool) {
        self.session = session
        self.isFirst = isFirst
    }

    /// Reads a user name; nil if it is not that of a probe.
    init?(_ username: [UInt8]) {
        let text = String(decoding: username, as: UTF8.self)
        guard text.utf8.count == 2 * SessionId.byteCount + 2, text.hasSuffix(".0") || text.hasSuffix(".1"),
            let bytes = try? Hex.decode(String(text.dropLast(2)))  // anybody can send anything
        else { return nil }
        self.init(SessionId(number: bytes.reduce(0) { $0 << 8 | UInt64($1) }), isFirst: text.hasSuffix(".0"))
    }

    /// The user name.
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: SessionId.byteCount)
        writer.write(session.number)
        return Array(Hex.encode(writer.bytes).utf8) + [UInt8(ascii: "."), UInt8(ascii: isFirst ? "0" : "1")]
    }
}
