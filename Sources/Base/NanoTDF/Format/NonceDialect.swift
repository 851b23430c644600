/// The mapping of the 3 bytes of an IV to the nonce of AES-GCM.
///
/// All dialects have one version number, so only a matching tag reveals the dialect of a file.
public enum NonceDialect: String, CaseIterable, Hashable, Sendable {
    /// 9 zero bytes, then the IV. The SDKs of OpenTDF and otdf-python use it, and this library writes it.
    case sdk
    /// The 3 bytes as they are, a nonce of 24 bits. The examples of the specification use it.
    case specification
    /// The IV, then 9 zero bytes. OpenTDFKit uses it.
    case kit

    /// The nonce, of 12 bytes or 3.
    func nonce(_ iv: [UInt8]) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 9)
        return switch self {
        case .sdk: zeros + iv
        case .specification: iv
        case .kit: iv + zeros
        }
    }
}

/// The place of a payload in a file that was split.
///
/// It is the byte of the nonce in front of the IV, so that no other reader, and no other place, fits (the construction
/// STREAM of Hoang, Reyhanitabar, Rogaway and Vizár, 2015).
enum StreamPlace: UInt8 {
    /// The payload is a whole file or message.
    case whole = 0
    /// The payload follows another one and is the last.
    case last = 1
    /// The payload is the first, and another one follows.
    case first = 2
    /// The payload follows another one, and another one follows.
    case middle = 3

    /// The nonce of 12 bytes.
    func nonce(_ iv: [UInt8]) -> [UInt8] {
        [UInt8](repeating: 0, count: 8) + [rawValue] + iv
    }
}
