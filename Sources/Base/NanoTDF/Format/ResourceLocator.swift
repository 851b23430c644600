internal import Bytes

/// A reference to a key access service or to a remote policy (section 3.4.1).
///
/// Its encoding has a byte for the protocol and the kind of identifier, the length of the body, the body, and the
/// identifier: 3 to 289 bytes.
public struct ResourceLocator: Hashable, Sendable {
    /// The protocol of a locator.
    public enum Scheme: UInt8, CaseIterable, Hashable, Sendable {
        /// `http`
        case http = 0
        /// `https`
        case https = 1
        /// An entry of a directory that writer and reader share. Its body is no URL.
        case sharedResourceDirectory = 0xF
    }

    /// The most bytes that a body has.
    public static let bodyByteLimit = 255

    /// The protocol.
    public let scheme: Scheme
    /// Everything after `://`: 1 to 255 bytes of UTF-8.
    public let body: String
    /// The name of a key of the service: 0, 2, 8 or 32 bytes.
    ///
    /// The SDKs of OpenTDF pad shorter names with zero bytes at the end.
    public let identifier: [UInt8]

    /// Checks the lengths of `body` and `identifier`.
    ///
    /// - Throws: ``NanoTDFError/invalidInput(field:reason:)`` if one of them has another length than the format allows.
    public init(_ scheme: Scheme, body: String, identifier: [UInt8] = []) throws(NanoTDFError) {
        guard 1...Self.bodyByteLimit ~= body.utf8.count else {
            throw .invalidInput(field: .locatorBody, reason: "it has 1 to 255 bytes, not \(body.utf8.count)")
        }
        guard IdentifierKind(byteCount: identifier.count) != nil else {
            throw .invalidInput(
                field: .locatorIdentifier,
                reason: "it has 0, 2, 8 or 32 bytes, not \(identifier.count)"
            )
        }
        self.scheme = scheme
        self.body = body
        self.identifier = identifier
    }

    /// Reads a URL of `http` or `https`.
    ///
    /// - Throws: ``NanoTDFError/invalidInput(field:reason:)`` if the text is no such URL, or its length is out of bounds.
    public init(url: String, identifier: [UInt8] = []) throws(NanoTDFError) {
        for scheme in [Scheme.https, .http] where url.hasPrefix("\(scheme)://") {
            try self.init(scheme, body: String(url.dropFirst("\(scheme)://".count)), identifier: identifier)
            return
        }
        throw .invalidInput(field: .locatorProtocol, reason: "a URL begins with https:// or http://")
    }

    /// The URL, if the protocol has URLs.
    public var url: String? {
        switch scheme {
        case .http, .https: "\(scheme)://\(body)"
        case .sharedResourceDirectory: nil
        }
    }

    /// The locator of a key that the recipient has, and no key access service; `identifier` names the key.
    ///
    /// - Throws: ``NanoTDFError/invalidInput(field:reason:)`` if `identifier` has not 0, 2, 8 or 32 bytes.
    public static func recipient(identifier: [UInt8]) throws(NanoTDFError) -> ResourceLocator {
        try ResourceLocator(.sharedResourceDirectory, body: "recipient", identifier: identifier)
    }

    /// The identifier for a name: `name` with zero bytes at its end, so that it has 0, 2, 8 or 32 bytes.
    ///
    /// - Throws: ``NanoTDFError/invalidInput(field:reason:)`` for a name of more than 32 bytes.
    public static func identifier(named name: String) throws(NanoTDFError) -> [UInt8] {
        let bytes = [UInt8](name.utf8)
        guard let kind = IdentifierKind.allCases.first(where: { $0.byteCount >= bytes.count }) else {
            throw .invalidInput(field: .locatorIdentifier, reason: "it has at most 32 bytes, not \(bytes.count)")
        }
        return bytes + [UInt8](repeating: 0, count: kind.byteCount - bytes.count)
    }

    /// The identifier without the zero bytes at its end.
    public var trimmedIdentifier: [UInt8] {
        Array(identifier.prefix((identifier.lastIndex { $0 != 0 } ?? -1) + 1))
    }

    /// The kind of an identifier, by its number in the format.
    private enum IdentifierKind: UInt8, CaseIterable {
        case none = 0
        case twoBytes = 1
        case eightBytes = 2
        case thirtyTwoBytes = 3

        var byteCount: Int {
            switch self {
            case .none: 0
            case .twoBytes: 2
            case .eightBytes: 8
            case .thirtyTwoBytes: 32
            }
        }

        init?(byteCount: Int) {
            guard let kind = Self.allCases.first(where: { $0.byteCount == byteCount }) else { return nil }
            self = kind
        }
    }

    init(reading reader: inout NanoTDFReader) throws(NanoTDFError) {
        let first = try reader.readUInt8(.locatorProtocol)
        guard let scheme = Scheme(rawValue: first & 0xF) else {
            throw reader.refusal(of: .locatorProtocol, bytes: 1, "the protocol \(first & 0xF) is not assigned")
        }
        guard let kind = IdentifierKind(rawValue: first >> 4) else {
            throw reader.refusal(of: .locatorIdentifier, bytes: 1, "the kind \(first >> 4) is not assigned")
        }
        let count = Int(try reader.readUInt8(.locatorBody))
        guard count > 0 else { throw reader.refusal(of: .locatorBody, bytes: 1, "it is empty") }
        let bytes = try reader.readBytes(.locatorBody, count: count)
        guard let body = String(utf8: bytes) else {
            throw reader.refusal(of: .locatorBody, bytes: count, "it is not UTF-8")
        }
        self.scheme = scheme
        self.body = body
        identifier = try reader.readBytes(.locatorIdentifier, count: kind.byteCount)
    }

    func write(to writer: inout ByteWriter) {
        guard let kind = IdentifierKind(byteCount: identifier.count) else {
            preconditionFailure("an identifier has \(identifier.count) bytes")
        }
        writer.write(kind.rawValue << 4 | scheme.rawValue)
        writer.write(UInt8(body.utf8.count))
        writer.write(utf8: body)
        writer.write(identifier)
    }
}

extension ResourceLocator {
    /// Whether both have the same bytes; equal strings may differ in them.
    public static func == (left: ResourceLocator, right: ResourceLocator) -> Bool {
        left.scheme == right.scheme && left.body.utf8.elementsEqual(right.body.utf8)
            && left.identifier == right.identifier
    }

    /// Feeds protocol, bytes of the body, and identifier.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        for byte in body.utf8 { hasher.combine(byte) }
        hasher.combine(identifier)
    }
}

extension ResourceLocator.Scheme: CustomStringConvertible {
    /// The scheme of a URL, or the name that the specification gives the protocol.
    public var description: String {
        switch self {
        case .http: "http"
        case .https: "https"
        case .sharedResourceDirectory: "shared resource directory"
        }
    }
}
