internal import Bytes
internal import Identity

/// The failure of a request, as the requester receives it and as it travels.
package struct ServiceFailure: Error, Hashable, Sendable {
    /// The kind of failure, for programs.
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// No member of the network offers the service.
        case noService = 1
        /// The service is there, without such an action.
        case noAction = 2
        /// The service is there and does not run: it is paused, stopped, or has not started.
        case notRunning = 3
        /// The time for the request was over.
        case deadline = 4
        /// The requester gave up.
        case cancelled = 5
        /// There is no room for another request: try again later.
        case busy = 6
        /// A header or a body was larger than it may be.
        case tooLarge = 7
        /// The handler could not read the body.
        case badRequest = 8
        /// The handler failed, with its own code and words.
        case handler = 9
        /// Providers are known and none of them could be reached.
        case unreachable = 10
        /// One side did not keep to the protocol.
        case protocolViolation = 11
    }

    /// The longest message, in bytes of UTF-8; what is longer is cut off.
    package static let messageByteLimit = 4096
    /// The longest context, in bytes of UTF-8; what is longer is cut off.
    package static let contextByteLimit = 1024

    package var kind: Kind
    /// The handler's own number, or 0.
    package var code: Int32
    /// A description of the failure, in plain words.
    package var message: String
    /// The place of the failure, for people who look for the cause.
    package var context: String

    package init(kind: Kind, code: Int32 = 0, message: String = "", context: String = "") {
        self.kind = kind
        self.code = code
        self.message = message.isEmpty ? kind.explanation : message
        self.context = context
    }
}

extension ServiceFailure.Kind {
    /// The failure in plain words.
    package var explanation: String {
        switch self {
        case .noService: "no member of the network offers the service"
        case .noAction: "the service has no such action"
        case .notRunning: "the service does not run at present"
        case .deadline: "the request timed out"
        case .cancelled: "the request was cancelled"
        case .busy: "there is no room for another request: try again later"
        case .tooLarge: "larger than a request or a response may be"
        case .badRequest: "the body of the request could not be read"
        case .handler: "the handler failed"
        case .unreachable: "no provider of the service could be reached"
        case .protocolViolation: "the protocol was violated: both sides may need the same version of Runar"
        }
    }

    /// Whether the handler surely did not begin, so that another provider can get the request whatever the action does.
    package var isBeforeHandling: Bool {
        switch self {
        case .noService, .noAction, .notRunning, .busy: true
        default: false
        }
    }
}

extension ServiceFailure: CustomStringConvertible {
    package var description: String { message }
}

// The wire form: kind, code, message, context.
extension ServiceFailure {
    /// The most bytes that a failure takes.
    package static let byteLimit = 5 + 4 + Self.messageByteLimit + 4 + Self.contextByteLimit

    func write(to writer: inout ByteWriter) {
        writer.write(kind.rawValue)
        writer.write(UInt32(bitPattern: code))
        writer.writeText(Self.cut(message, Self.messageByteLimit))
        writer.writeText(Self.cut(context, Self.contextByteLimit))
    }

    init(reading reader: inout ByteReader) throws {
        let number = try reader.readUInt8()
        guard number != 0 else { throw WireError.malformed("a failure of the kind 0") }
        let code = Int32(bitPattern: try reader.readUInt32())
        // These texts must not control the log or the terminal that shows them.
        let message = PlainText.line(of: try reader.readText(limit: Self.messageByteLimit))
        let context = PlainText.line(of: try reader.readText(limit: Self.contextByteLimit))
        // A kind that a later version added says no more than that the handler failed.
        self.init(kind: Kind(rawValue: number) ?? .handler, code: code, message: message, context: context)
    }

    /// The binary form.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 16 + message.utf8.count + context.utf8.count)
        write(to: &writer)
        return writer.bytes
    }

    /// Reads the binary form.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        self = try WireError.reading(bytes) { try ServiceFailure(reading: &$0) }
    }

    /// Returns the longest prefix of `text` that has at most `limit` bytes and splits no Unicode scalar.
    private static func cut(_ text: String, _ limit: Int) -> Substring {
        guard text.utf8.count > limit else { return text[...] }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        while String.Index(end, within: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return text[..<end]
    }
}
