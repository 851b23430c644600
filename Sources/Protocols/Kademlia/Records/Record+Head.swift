internal import Bytes
package import Identity

extension Record {
    /// A record without its value, which suffices to verify its writer and version before a large value is fetched.
    package struct Head: Hashable, Sendable {
        package let key: [UInt8]
        package let writerKey: Ed25519PublicKey
        /// The SHA-256 of ``writerKey``.
        package let writer: PeerId
        /// The writer's access token without the fields that the record repeats.
        package let membership: MembershipProof
        package let version: UInt64
        package let expirySeconds: UInt64
        package let isTombstone: Bool
        package let valueByteCount: Int
        package let valueHash: Bytes32
        package internal(set) var signature: Ed25519Signature

        package var revision: Revision { Revision(version: version, writer: writer) }

        /// The bytes that the writer's signature covers.
        package func signedBytes(in network: NetworkId) -> [UInt8] {
            var writer = ByteWriter(capacity: 160 + key.count)
            writer.write(Record.label.prefix)
            writer.write(network.bytes)
            writer.write(UInt16(key.count))
            writer.write(key)
            writer.write(self.writer.bytes)
            writer.write(version)
            writer.write(expirySeconds)
            writer.write(UInt8(isTombstone ? 1 : 0))
            writer.write(UInt32(valueByteCount))
            writer.write(valueHash.bytes)
            return writer.bytes
        }

        /// The writer's token in `network`.
        package func token(in network: NetworkId) throws(IdentityError) -> AccessToken {
            try membership.token(of: writer, in: network)
        }
    }
}
