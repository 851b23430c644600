internal import Crypto
internal import Foundation

/// EMSA-PSS with SHA-384, MGF1 and a given salt (RFC 8017, section 9.1.1), for vectors with a salt.
enum PSSEncoding {
    static func encode(_ message: [UInt8], salt: [UInt8], modulusByteCount: Int) -> [UInt8] {
        let digest = [UInt8](SHA384.hash(data: message))
        let hash = [UInt8](SHA384.hash(data: [UInt8](repeating: 0, count: 8) + digest + salt))
        let paddingCount = modulusByteCount - salt.count - hash.count - 2
        let block = [UInt8](repeating: 0, count: paddingCount) + [1] + salt
        var masked = zip(block, mask(hash, count: block.count)).map { $0 ^ $1 }
        masked[0] &= 0x7F
        return masked + hash + [0xBC]
    }

    private static func mask(_ seed: [UInt8], count: Int) -> [UInt8] {
        var mask: [UInt8] = []
        for counter in 0..<UInt8(count / 48 + 1) {
            mask += [UInt8](SHA384.hash(data: seed + [0, 0, 0, counter]))
        }
        return [UInt8](mask.prefix(count))
    }
}
