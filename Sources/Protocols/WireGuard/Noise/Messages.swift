/// The types of messages (the paper, section 5.4): one byte, and three zero bytes.
enum MessageType: UInt32 {
    case initiation = 1
    case response = 2
    case cookieReply = 3
    case transport = 4
}

/// The failures of a datagram that is not a message.
enum MessageProblem: Error, Equatable, Sendable {
    /// The first four bytes are not the type of a message.
    case unknownType
    /// The datagram has not the length of its type.
    case wrongLength(Int)
}

/// The codes at the end of an initiation and of a response: 16 bytes each.
enum MessageCodes {
    static let byteCount = 16
    /// The bytes of both codes.
    static let bothByteCount = 2 * byteCount

    /// Whether the second code is missing: all zero.
    static func lackSecond(_ message: ArraySlice<UInt8>) -> Bool {
        message.suffix(byteCount).allSatisfy { $0 == 0 }
    }

    /// Returns the first code of a message.
    static func first(of message: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        message.suffix(bothByteCount).prefix(byteCount)
    }
}

/// The first message of a handshake, without its codes.
struct InitiationMessage: Equatable, Sendable {
    static let byteCount = 148

    var sender: UInt32
    var ephemeral: [UInt8]
    var sealedStatic: [UInt8]
    var sealedTimestamp: [UInt8]
}

/// The second message of a handshake, without its codes.
struct ResponseMessage: Equatable, Sendable {
    static let byteCount = 92

    var sender: UInt32
    var receiver: UInt32
    var ephemeral: [UInt8]
    var sealedNothing: [UInt8]
}

/// The message by which a loaded peer demands a proof of the sender's address (the paper, section 5.4.7).
struct CookieReplyMessage: Equatable, Sendable {
    static let byteCount = 64

    var receiver: UInt32
    var nonce: [UInt8]
    var sealedCookie: [UInt8]
}

/// The first 16 bytes of a transport message.
struct TransportHeader: Equatable, Sendable {
    static let byteCount = 16
    /// The shortest transport message: a header and the tag of an empty packet.
    static let minimumMessage = 32

    var receiver: UInt32
    var counter: UInt64

    /// Writes the header over 16 bytes at `start`.
    func write(to memory: inout [UInt8], at start: Int) {
        unsafe memory.withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(
                of: MessageType.transport.rawValue.littleEndian,
                toByteOffset: start,
                as: UInt32.self
            )
            unsafe bytes.storeBytes(of: receiver.littleEndian, toByteOffset: start + 4, as: UInt32.self)
            unsafe bytes.storeBytes(of: counter.littleEndian, toByteOffset: start + 8, as: UInt64.self)
        }
    }

    /// Reads the header of a transport message; nil if the datagram is another message or too short.
    init?(_ datagram: UnsafeRawBufferPointer) {
        guard datagram.count >= Self.minimumMessage,
            unsafe UInt32(littleEndian: datagram.loadUnaligned(as: UInt32.self)) == MessageType.transport.rawValue
        else { return nil }
        receiver = unsafe UInt32(littleEndian: datagram.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        counter = unsafe UInt64(littleEndian: datagram.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    init(receiver: UInt32, counter: UInt64) {
        self.receiver = receiver
        self.counter = counter
    }
}

/// A message of a handshake.
enum HandshakeMessage: Equatable, Sendable {
    case initiation(InitiationMessage)
    case response(ResponseMessage)
    case cookieReply(CookieReplyMessage)

    /// Reads a message; transport messages are ``MessageProblem/unknownType`` here.
    init(_ datagram: ArraySlice<UInt8>) throws(MessageProblem) {
        let reader = LittleEndianReader(bytes: datagram)
        guard datagram.count >= 4, let type = MessageType(rawValue: reader.word(at: 0)) else { throw .unknownType }
        switch type {
        case .initiation where datagram.count == InitiationMessage.byteCount:
            let message = InitiationMessage(
                sender: reader.word(at: 4),
                ephemeral: reader.bytes(8..<40),
                sealedStatic: reader.bytes(40..<88),
                sealedTimestamp: reader.bytes(88..<116)
            )
            self = .initiation(message)
        case .response where datagram.count == ResponseMessage.byteCount:
            let message = ResponseMessage(
                sender: reader.word(at: 4),
                receiver: reader.word(at: 8),
                ephemeral: reader.bytes(12..<44),
                sealedNothing: reader.bytes(44..<60)
            )
            self = .response(message)
        case .cookieReply where datagram.count == CookieReplyMessage.byteCount:
            let message = CookieReplyMessage(
                receiver: reader.word(at: 4),
                nonce: reader.bytes(8..<32),
                sealedCookie: reader.bytes(32..<64)
            )
            self = .cookieReply(message)
        case .transport: throw .unknownType
        case .initiation, .response, .cookieReply: throw .wrongLength(datagram.count)
        }
    }

    /// The bytes of the message; those of an initiation or a response lack the two codes.
    var bytes: [UInt8] {
        switch self {
        case .initiation(let message):
            MessageType.initiation.rawValue.littleEndianBytes + message.sender.littleEndianBytes + message.ephemeral
                + message.sealedStatic + message.sealedTimestamp
        case .response(let message):
            MessageType.response.rawValue.littleEndianBytes + message.sender.littleEndianBytes
                + message.receiver.littleEndianBytes + message.ephemeral + message.sealedNothing
        case .cookieReply(let message):
            MessageType.cookieReply.rawValue.littleEndianBytes + message.receiver.littleEndianBytes + message.nonce
                + message.sealedCookie
        }
    }
}

/// The fields of a datagram at offsets from its start; the caller has checked its length.
private struct LittleEndianReader {
    var bytes: ArraySlice<UInt8>

    func word(at offset: Int) -> UInt32 {
        bytes.dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    func bytes(_ range: Range<Int>) -> [UInt8] {
        Array(bytes.dropFirst(range.lowerBound).prefix(range.count))
    }
}

extension UInt32 {
    /// The four bytes, the least significant first.
    fileprivate var littleEndianBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }
}
