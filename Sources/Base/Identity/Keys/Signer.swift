/// A signer with one Ed25519 key; injected wherever a protocol core signs, so that a simulation can stand in.
package protocol Signer: Sendable {
    /// The public half of the key that signs.
    var publicKey: Ed25519PublicKey { get }

    /// Signs exactly `message`.
    func sign(_ message: [UInt8]) throws(IdentityError) -> [UInt8]
}
