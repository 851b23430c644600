internal import Bytes

/// The policy of a NanoTDF (section 3.4.2).
public enum NanoTDFPolicy: Hashable, Sendable {
    /// A policy that a service has (type 0).
    case remote(ResourceLocator)
    /// A policy in clear (type 1): 1 to 65,535 bytes.
    case plain([UInt8])
    /// A policy encrypted under the key of the payload with the IV `000000` (type 2): the ciphertext and its tag.
    case encrypted([UInt8])
    /// A policy encrypted under a key of its own (type 3), which this library recognises and does not open.
    case encryptedWithKeyAccess([UInt8], ResourceLocator, ephemeralPublicKey: NanoTDFPublicKey)

    /// The most bytes that the content of an embedded policy has.
    public static let contentByteLimit = 65_535

    /// The number of the type.
    public var type: UInt8 {
        switch self {
        case .remote: 0
        case .plain: 1
        case .encrypted: 2
        case .encryptedWithKeyAccess: 3
        }
    }

    /// The bytes that a binding covers: the whole locator of a remote policy, else the content without its length.
    var boundBytes: [UInt8] {
        switch self {
        case .remote(let locator):
            var writer = ByteWriter()
            locator.write(to: &writer)
            return writer.bytes
        case .plain(let content), .encrypted(let content), .encryptedWithKeyAccess(let content, _, _):
            return content
        }
    }

    init(reading reader: inout NanoTDFReader, curve: EllipticCurve) throws(NanoTDFError) {
        let type = try reader.readUInt8(.policyType)
        switch type {
        case 0:
            self = .remote(try ResourceLocator(reading: &reader))
        case 1:
            self = .plain(try Self.readContent(&reader))
        case 2:
            self = .encrypted(try Self.readContent(&reader))
        case 3:
            self = .encryptedWithKeyAccess(
                try Self.readContent(&reader),
                try ResourceLocator(reading: &reader),
                ephemeralPublicKey: try reader.readPublicKey(.policyKey, on: curve)
            )
        default:
            throw reader.refusal(of: .policyType, bytes: 1, "the type \(type) is not assigned")
        }
    }

    private static func readContent(_ reader: inout NanoTDFReader) throws(NanoTDFError) -> [UInt8] {
        let count = try reader.readUInt16(.policyContent)
        guard count > 0 else { throw reader.refusal(of: .policyContent, bytes: 2, "it is empty") }
        return try reader.readBytes(.policyContent, count: count)
    }

    func write(to writer: inout ByteWriter) {
        writer.write(type)
        switch self {
        case .remote(let locator):
            locator.write(to: &writer)
        case .plain(let content), .encrypted(let content):
            Self.writeContent(content, to: &writer)
        case .encryptedWithKeyAccess(let content, let locator, let key):
            Self.writeContent(content, to: &writer)
            locator.write(to: &writer)
            writer.write(key.compressedRepresentation)
        }
    }

    private static func writeContent(_ content: [UInt8], to writer: inout ByteWriter) {
        writer.write(UInt16(content.count))
        writer.write(content)
    }
}
