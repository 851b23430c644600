internal import Bytes

/// The header of a response, before its body.
package struct ResponseHeader: Hashable, Sendable {
    /// The outcome of the request.
    package enum Status: Hashable, Sendable {
        /// The rest of the stream is the body.
        case ok
        /// Items follow.
        case okStreaming
        /// Nothing follows.
        case failed(ServiceFailure)
    }

    /// The longest header, in bytes, without its length.
    package static let byteLimit = 8 * 1024

    package var status: Status
    package var contentType: ContentType

    package init(status: Status, contentType: ContentType = .none) {
        self.status = status
        self.contentType = contentType
    }
}

// The wire form: status, content type, and the failure if there is one.
extension ResponseHeader {
    /// The header behind its length, and `body`.
    package func bytes(body: [UInt8] = []) -> [UInt8] {
        var writer = ByteWriter(capacity: 4 + body.count)
        switch status {
        case .ok, .okStreaming:
            writer.writeVarint(2)
            writer.write(UInt8(status == .ok ? 0 : 1))
            writer.write(contentType.rawValue)
        case .failed(let failure):
            let words = failure.bytes
            writer.writeVarint(UInt64(2 + words.count))
            writer.write(UInt8(2))
            writer.write(contentType.rawValue)
            writer.write(words)
        }
        writer.write(body)
        return writer.bytes
    }

    /// Reads a header, without its length.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        self = try WireError.reading(bytes) { reader in
            let status = try reader.readUInt8()
            let number = try reader.readUInt8()
            guard let contentType = ContentType(rawValue: number) else {
                throw WireError.malformed("the content type \(number)")
            }
            switch status {
            case 0: return ResponseHeader(status: .ok, contentType: contentType)
            case 1: return ResponseHeader(status: .okStreaming, contentType: contentType)
            case 2:
                let failure = try ServiceFailure(reading: &reader)
                return ResponseHeader(status: .failed(failure), contentType: contentType)
            default: throw WireError.malformed("the status \(status)")
            }
        }
    }
}

/// The length before each item of a streamed body, and whether the item is a failure that ends it.
package enum ItemHead {
    /// An item after its length.
    package static func bytes(_ item: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 8 + item.count)
        writer.writeVarint(UInt64(item.count) << 1)
        writer.write(item)
        return writer.bytes
    }

    /// The failure item that ends the body, after its length.
    package static func bytes(_ failure: ServiceFailure) -> [UInt8] {
        let words = failure.bytes
        var writer = ByteWriter(capacity: 8 + words.count)
        writer.writeVarint(UInt64(words.count) << 1 | 1)
        writer.write(words)
        return writer.bytes
    }

    /// Returns the length and the failure flag in the number before an item.
    package static func parts(_ number: UInt64) -> (byteCount: UInt64, isFailure: Bool) {
        (number >> 1, number & 1 == 1)
    }
}
