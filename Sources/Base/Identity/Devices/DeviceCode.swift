internal import Algorithms
internal import Bytes
internal import Crypto

/// The code on two screens by which a person verifies that a request or an answer was not replaced in transit.
///
/// It has a hundred bits, because an attacker has unlimited time to find another text with the same code.
enum DeviceCode {
    private static let label = DomainLabel("runar/device-code/v1")
    private static let characterCount = 20
    private static let groupCount = 4

    /// Twenty characters in groups of four, such as `alvl-mj3f-k5sp-ltti-gf4t`.
    static func text(of binary: [UInt8]) -> String {
        let text = Base32.encode(Array(SHA256.hash(data: label.message(binary)))).prefix(characterCount)
        return text.chunks(ofCount: groupCount).joined(separator: "-")
    }
}
