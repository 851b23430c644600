internal import Crypto

/// ChaCha20-Poly1305 of transport messages: the nonce is four zero bytes and the counter (the paper, section 5.4.6).
enum TransportCipher {
    /// The bytes of the nonce, which precede the ciphertext in a sealed box as the counter does in a message.
    static let nonceByteCount = 12

    /// Returns the nonce, the ciphertext and the tag.
    static func seal(_ packet: UnsafeRawBufferPointer, with key: SymmetricKey, counter: UInt64) -> some Collection<
        UInt8
    > {
        do {
            return unsafe try ChaChaPoly.seal(packet, using: key, nonce: nonce(counter)).combined
        } catch {
            preconditionFailure("ChaCha20-Poly1305 refused a packet of \(packet.count) bytes")
        }
    }

    /// Appends the packet and its padding; returns false if the box, which begins with the nonce, is not authentic.
    static func open(_ box: UnsafeRawBufferPointer, with key: SymmetricKey, into packets: inout PacketBatch) -> Bool {
        do {
            packets.append(unsafe try ChaChaPoly.open(ChaChaPoly.SealedBox(combined: box), using: key))
            return true
        } catch {
            return false
        }
    }

    private static func nonce(_ counter: UInt64) throws -> ChaChaPoly.Nonce {
        unsafe try withUnsafeBytes(of: (UInt32(0), counter.littleEndian.parts)) { bytes in
            unsafe try ChaChaPoly.Nonce(data: bytes)
        }
    }
}

extension UInt64 {
    /// The two halves, the less significant one first: together with a word before them they have no gap.
    fileprivate var parts: (UInt32, UInt32) {
        (UInt32(truncatingIfNeeded: self), UInt32(truncatingIfNeeded: self >> 32))
    }
}
