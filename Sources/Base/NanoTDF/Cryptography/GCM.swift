internal import Bytes
internal import Crypto
internal import CryptoExtras
internal import Essentials

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D) with the nonces and tags that NanoTDF has.
///
/// The system's cryptography is used where possible: nonces of 12 bytes, whole tags. A shortened tag is compared with a
/// recomputed one. A nonce of 3 bytes needs a GHASH of our own.
enum GCM {
    /// A ciphertext and its tag.
    struct Box {
        let ciphertext: [UInt8]
        let tag: [UInt8]
    }

    /// Encrypts under a nonce of 12 bytes and shortens the tag.
    static func seal(
        _ plaintext: [UInt8],
        under key: SymmetricKey,
        nonce: [UInt8],
        tagByteCount: Int
    ) throws(NanoTDFError) -> Box {
        let box = try seal(plaintext, authenticating: [], under: key, nonce: nonce)
        return Box(ciphertext: box.ciphertext, tag: [UInt8](box.tag.prefix(tagByteCount)))
    }

    /// The first bytes of the tag over `data` and an empty plaintext under 12 zero bytes: the GMAC of OpenTDFKit.
    static func gmac(of data: [UInt8], under key: SymmetricKey, byteCount: Int) throws(NanoTDFError) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 12)
        return [UInt8](try seal([], authenticating: data, under: key, nonce: zeros).tag.prefix(byteCount))
    }

    /// Decrypts under a nonce of 12 or 3 bytes; nil if the tag, which may be shortened, does not fit.
    static func open(_ box: Box, under key: SymmetricKey, nonce: [UInt8]) throws(NanoTDFError) -> [UInt8]? {
        if nonce.count == 12 {
            try open12(box, under: key, nonce: nonce)
        } else {
            try openOther(box, under: key, nonce: nonce)
        }
    }

    private static func seal(
        _ plaintext: [UInt8],
        authenticating data: [UInt8],
        under key: SymmetricKey,
        nonce: [UInt8]
    ) throws(NanoTDFError) -> Box {
        do {
            let box = try AES.GCM.seal(
                plaintext,
                using: key,
                nonce: AES.GCM.Nonce(data: nonce),
                authenticating: data
            )
            return Box(ciphertext: [UInt8](box.ciphertext), tag: [UInt8](box.tag))
        } catch {
            throw .cryptographyFailed
        }
    }

    private static func open12(_ box: Box, under key: SymmetricKey, nonce: [UInt8]) throws(NanoTDFError) -> [UInt8]? {
        guard box.tag.count < GHASH.blockByteCount else {
            do {
                let sealed = try AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: nonce),
                    ciphertext: box.ciphertext,
                    tag: box.tag
                )
                return [UInt8](try AES.GCM.open(sealed, using: key))
            } catch {
                return nil  // Systems differ in the error for a tag that does not fit.
            }
        }
        // Encrypting a ciphertext decrypts it; encrypting the result gives the whole tag.
        var plaintext = try seal(box.ciphertext, authenticating: [], under: key, nonce: nonce).ciphertext
        let tag = try seal(plaintext, authenticating: [], under: key, nonce: nonce).tag
        guard ConstantTime.areEqual(tag.prefix(box.tag.count), box.tag) else {
            plaintext.wipe()
            return nil
        }
        return plaintext
    }

    private static func openOther(
        _ box: Box,
        under key: SymmetricKey,
        nonce: [UInt8]
    ) throws(NanoTDFError) -> [UInt8]? {
        let hashKey = try encrypt([UInt8](repeating: 0, count: GHASH.blockByteCount), under: key)
        var hash = GHASH(key: hashKey)
        hash.absorb(nonce)
        hash.absorb(bitCounts: 0, UInt64(nonce.count) * 8)
        let counter = hash.digest

        hash = GHASH(key: hashKey)
        hash.absorb(box.ciphertext)
        hash.absorb(bitCounts: 0, UInt64(box.ciphertext.count) * 8)
        let tag = zip(hash.digest, try encrypt(counter, under: key)).map { $0 ^ $1 }
        guard ConstantTime.areEqual(tag.prefix(box.tag.count), box.tag) else { return nil }
        return try applyKeystream(to: box.ciphertext, under: key, after: counter)
    }

    /// Encrypts or decrypts with the blocks that follow `counter`, whose last 4 bytes count modulo 2^32.
    static func applyKeystream(
        to bytes: [UInt8],
        under key: SymmetricKey,
        after counter: [UInt8]
    ) throws(NanoTDFError) -> [UInt8] {
        let first = counter[12...].reduce(0) { $0 << 8 | UInt32($1) } &+ 1
        // The library carries into the other 12 bytes, which GCM leaves unchanged: restart the counter there.
        let whole = (UInt64(1) << 32 - UInt64(first)) * UInt64(GHASH.blockByteCount)
        let split = Int(min(UInt64(bytes.count), whole))
        do {
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            for (part, start) in [(bytes[..<split], first), (bytes[split...], 0)] where !part.isEmpty {
                var writer = ByteWriter(capacity: GHASH.blockByteCount)
                writer.write(counter[..<12])
                writer.write(start)
                result += try AES._CTR.encrypt(part, using: key, nonce: AES._CTR.Nonce(nonceBytes: writer.bytes))
            }
            return result
        } catch {
            throw .cryptographyFailed
        }
    }

    private static func encrypt(_ block: [UInt8], under key: SymmetricKey) throws(NanoTDFError) -> [UInt8] {
        var block = block
        do { try AES.permute(&block, key: key) } catch { throw .cryptographyFailed }
        return block
    }
}
