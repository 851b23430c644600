internal import Bytes

/// The first two bytes of every stream: its content and its network.
package struct StreamHeader: Hashable, Sendable {
    /// The content of a stream.
    package enum Kind: UInt8, Sendable {
        /// The connection's control frames; opened once, by the dialler, and its network index is 0 and unused.
        case hello = 0
        /// One message and its one-byte receipt.
        case message = 1
        /// A file offer, its answer and its bytes.
        case bulk = 2
        /// A request to a service and its response.
        case request = 3
    }

    /// The number of bytes of a header.
    package static let byteCount = 2

    package var kind: Kind
    /// The index that a hello gave to the network.
    package var networkIndex: UInt8

    package init(kind: Kind, networkIndex: UInt8 = 0) {
        self.kind = kind
        self.networkIndex = networkIndex
    }

    /// The wire form.
    package var bytes: [UInt8] { [kind.rawValue, networkIndex] }

    /// Reads a header; nil if its kind is unknown or bytes are missing.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count >= Self.byteCount, let first = bytes.first, let kind = Kind(rawValue: first) else {
            return nil
        }
        self.kind = kind
        networkIndex = bytes[bytes.index(after: bytes.startIndex)]
    }
}
