internal import Bytes
internal import Identity

/// The header of a request, before its body.
package struct RequestHeader: Hashable, Sendable {
    /// One line of ``metadata``.
    package struct Field: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The longest header, in bytes, without its length.
    package static let byteLimit = 8 * 1024
    /// The most lines of metadata.
    package static let fieldLimit = 16
    /// The longest name of a line, in bytes.
    package static let nameByteLimit = 64
    /// The longest value of a line, in bytes.
    package static let valueByteLimit = 1024
    /// The longest time that a request may take.
    package static let longestTimeLimit = Duration.seconds(86_400)

    package var path: RequestPath
    package var contentType: ContentType
    /// Whether the request may be performed twice without harm.
    package var isIdempotent: Bool
    /// Whether the body is a sequence of items instead of the rest of the stream.
    package var streamsBody: Bool
    /// The remaining time of the request.
    package var timeLimit: Duration
    /// Fields that only some handlers understand, such as the `traceparent` of W3C Trace Context.
    package var metadata: [Field]

    package init(
        path: RequestPath,
        contentType: ContentType = .none,
        isIdempotent: Bool = false,
        streamsBody: Bool = false,
        timeLimit: Duration = .seconds(30),
        metadata: [Field] = []
    ) {
        self.path = path
        self.contentType = contentType
        self.isIdempotent = isIdempotent
        self.streamsBody = streamsBody
        self.timeLimit = timeLimit
        self.metadata = metadata
    }

    /// The first segment of the path.
    package var servicePath: String { path.servicePath }
}

// The wire form: flags, content type, time limit, path, metadata.
extension RequestHeader {
    private static let idempotentFlag: UInt8 = 1
    private static let streamsFlag: UInt8 = 2

    /// The length of the header behind its length prefix.
    package var byteCount: Int {
        var count = 2 + ByteWriter.varintByteCount(timeLimit.wholeMilliseconds) + 1
        count += ByteWriter.textByteCount(path.text)
        for field in metadata {
            count += ByteWriter.textByteCount(field.name) + ByteWriter.textByteCount(field.value)
        }
        return count
    }

    /// Whether the header can be sent.
    ///
    /// - Throws: `WireError` with the rule that it breaks.
    package func check() throws(WireError) {
        guard metadata.count <= Self.fieldLimit else {
            throw .malformed("\(metadata.count) lines of metadata, at most \(Self.fieldLimit) are allowed")
        }
        for field in metadata {
            guard !field.name.isEmpty, field.name.utf8.count <= Self.nameByteLimit else {
                throw .tooLong("a name in the metadata", limit: Self.nameByteLimit, found: field.name.utf8.count)
            }
            guard field.value.utf8.count <= Self.valueByteLimit else {
                throw .tooLong("a value in the metadata", limit: Self.valueByteLimit, found: field.value.utf8.count)
            }
        }
        let byteCount = self.byteCount
        guard byteCount <= Self.byteLimit else {
            throw .tooLong("a header", limit: Self.byteLimit, found: byteCount)
        }
    }

    /// `prefix`, then the header behind its length, then `body`, in one piece so that one packet carries all of it.
    package func bytes(after prefix: [UInt8], body: [UInt8]) -> [UInt8] {
        let byteCount = self.byteCount
        var writer = ByteWriter(capacity: prefix.count + 8 + byteCount + body.count)
        writer.write(prefix)
        writer.writeVarint(UInt64(byteCount))
        writer.write((isIdempotent ? Self.idempotentFlag : 0) | (streamsBody ? Self.streamsFlag : 0))
        writer.write(contentType.rawValue)
        writer.writeVarint(timeLimit.wholeMilliseconds)
        writer.writeText(path.text)
        writer.write(UInt8(metadata.count))
        for field in metadata {
            writer.writeText(field.name)
            writer.writeText(field.value)
        }
        writer.write(body)
        return writer.bytes
    }

    /// Reads a header, without its length.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        self = try WireError.reading(bytes) { reader in
            let flags = try reader.readUInt8()
            let number = try reader.readUInt8()
            guard let contentType = ContentType(rawValue: number) else {
                throw WireError.malformed("the content type \(number)")
            }
            let milliseconds = try reader.readVarint()
            let longest = Self.longestTimeLimit.wholeMilliseconds
            guard (1...longest).contains(milliseconds) else {
                throw WireError.malformed("a time limit of \(milliseconds) ms")
            }
            let path = try RequestPath(reader.readText(limit: TopicPath.byteLimit))
            return RequestHeader(
                path: path,
                contentType: contentType,
                isIdempotent: flags & Self.idempotentFlag != 0,
                streamsBody: flags & Self.streamsFlag != 0,
                timeLimit: .milliseconds(Int64(milliseconds)),
                metadata: try Self.readMetadata(from: &reader)
            )
        }
    }

    private static func readMetadata(from reader: inout ByteReader) throws -> [Field] {
        let count = try reader.readUInt8()
        guard count <= fieldLimit else { throw WireError.malformed("\(count) lines of metadata") }
        var fields: [Field] = []
        for _ in 0..<count {
            let name = try reader.readText(limit: nameByteLimit)
            guard !name.isEmpty else { throw WireError.malformed("a line of metadata without a name") }
            fields.append(Field(name: name, value: try reader.readText(limit: valueByteLimit)))
        }
        return fields
    }
}

extension Duration {
    /// The time in whole milliseconds, rounded up, from 1 to 86,400,000 (a day), the longest time of a request.
    var wholeMilliseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard self > .zero else { return 1 }
        guard seconds < 86_400 else { return 86_400_000 }
        return UInt64(seconds) * 1000 + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
