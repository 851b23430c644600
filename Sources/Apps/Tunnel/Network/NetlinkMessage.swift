/// A request of rtnetlink (`rtnetlink(7)`), or an answer: a header of 16 bytes, a fixed part and attributes.
///
/// Integers have the byte order of the machine; addresses that of the network.
struct NetlinkMessage: Equatable, Sendable {
    /// The kinds of messages that are used here.
    enum Kind: UInt16, Sendable {
        case error = 2
        case done = 3
        case newLink = 16
        case deleteLink = 17
        case getLink = 18
        case newAddress = 20
        case deleteAddress = 21
        case newRoute = 24
        case deleteRoute = 25
        case newRule = 32
        case deleteRule = 33
        case getRule = 34
    }

    static let request: UInt16 = 0x1
    static let acknowledge: UInt16 = 0x4
    static let exclusive: UInt16 = 0x200
    static let create: UInt16 = 0x400
    static let dump: UInt16 = 0x300
    static let headerLength = 16
    /// The most bytes of an answer: the kernel sends no more than 32 KiB.
    static let answerByteLimit = 32 << 10

    var kind: UInt16
    var flags: UInt16
    /// The fixed part and the attributes.
    var body: [UInt8]

    init(_ kind: Kind, flags: UInt16, fixed: [UInt8]) {
        self.kind = kind.rawValue
        self.flags = Self.request | flags
        body = fixed
    }

    private init(kind: UInt16, flags: UInt16, body: [UInt8]) {
        self.kind = kind
        self.flags = flags
        self.body = body
    }

    /// Adds an attribute, padded to a multiple of four bytes.
    mutating func add(_ attribute: UInt16, _ value: [UInt8]) {
        body += Self.bytes(UInt16(truncatingIfNeeded: 4 + value.count)) + Self.bytes(attribute) + value
        body += [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    }

    mutating func add(_ attribute: UInt16, _ value: UInt32) { add(attribute, Self.bytes(value)) }

    /// Adds text with its terminator.
    mutating func add(_ attribute: UInt16, text: String) { add(attribute, Array(text.utf8) + [0]) }

    /// The bytes of the message with a number for its answer.
    func bytes(sequence: UInt32) -> [UInt8] {
        let length = UInt32(truncatingIfNeeded: Self.headerLength + body.count)
        return Self.bytes(length) + Self.bytes(kind) + Self.bytes(flags) + Self.bytes(sequence) + Self.bytes(UInt32(0))
            + body
    }

    /// The bytes of an integer in the byte order of the machine.
    static func bytes(_ value: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
        let ordered = value.littleEndian
        return stride(from: 0, to: ordered.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: ordered >> $0) }
    }

    /// The integer in the first four bytes of a value, in the byte order of the machine; 0 for shorter ones.
    static func word(_ value: ArraySlice<UInt8>) -> UInt32 {
        guard value.count >= 4 else { return 0 }
        return UInt32(littleEndian: value.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// The messages of one datagram; a damaged one ends the list.
    static func messages(in datagram: [UInt8]) -> [(message: NetlinkMessage, sequence: UInt32)] {
        var found: [(NetlinkMessage, UInt32)] = []
        var rest = datagram[...]
        while rest.count >= headerLength {
            let length = Int(word(rest))
            guard length >= headerLength, length <= rest.count else { break }
            let start = rest.startIndex
            let kinds = word(rest[(start + 4)...])
            let (kind, flags) = halves(kinds)
            let message = NetlinkMessage(
                kind: kind,
                flags: flags,
                body: Array(rest[start + headerLength..<start + length])
            )
            found.append((message, word(rest[(start + 8)...])))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return found
    }

    /// The attributes after a fixed part of `length` bytes; the last one of each number counts, a damaged one ends them.
    func attributes(after length: Int) -> [UInt16: ArraySlice<UInt8>] { Self.attributes(in: body.dropFirst(length)) }

    /// The attributes in a nested value.
    static func attributes(in bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        var found: [UInt16: ArraySlice<UInt8>] = [:]
        var rest = bytes
        while rest.count >= 4 {
            let (length, kind) = halves(word(rest))
            guard length >= 4, Int(length) <= rest.count else { break }
            // The two upper bits state the form of the value.
            found[kind & 0x3FFF] = rest.dropFirst(4).prefix(Int(length) - 4)
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        return found
    }

    /// The two integers of 16 bits that follow each other in the memory of an integer of 32 bits.
    private static func halves(_ word: UInt32) -> (UInt16, UInt16) {
        let ordered = word.littleEndian
        let value = { (shift: UInt32) in UInt16(littleEndian: UInt16(truncatingIfNeeded: ordered >> shift)) }
        return (value(0), value(16))
    }
}
