package import Bytes
package import Identity

/// Finding the members of one's networks on the local network, as a value free of I/O.
package struct Discovery: Sendable {
    /// What discovery must know to start.
    package struct Configuration: Sendable {
        /// Signs as the device; its public key is the device's.
        package var signer: any Signer
        /// Drawn anew at every process start: the boot id of the beacons.
        package var instance: InstanceId
        /// 32 random bytes, drawn anew at every process start and used for nothing else: the nonces come from them.
        package var nonceKey: SecretBytes
        /// Spreads sending; not a secret.
        package var randomSeed: UInt64
        package var limits: Limits
        package var verifier: Verifier

        package init(
            signer: any Signer,
            instance: InstanceId,
            nonceKey: SecretBytes,
            randomSeed: UInt64,
            limits: Limits = Limits(),
            verifier: Verifier = Verifier()
        ) {
            self.signer = signer
            self.instance = instance
            self.nonceKey = nonceKey
            self.randomSeed = randomSeed
            self.limits = limits
            self.verifier = verifier
        }
    }

    /// How signatures are checked and knocks are sealed; simulations put cheaper work of equal length here.
    package struct Verifier: Sendable {
        package var token: @Sendable (AccessToken) -> Bool
        package var signature: @Sendable (Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool
        /// Seals with randomness of the system's; nil if the key is none.
        package var seal: @Sendable (_ message: [UInt8], RendezvousKey, _ info: [UInt8]) -> [UInt8]?

        package init(
            token: @escaping @Sendable (AccessToken) -> Bool = { $0.verifySignature() },
            signature: @escaping @Sendable (Ed25519PublicKey, [UInt8], [UInt8]) -> Bool = { key, message, signature in
                key.isValidSignature(signature, for: message)
            },
            seal: @escaping @Sendable ([UInt8], RendezvousKey, [UInt8]) -> [UInt8]? = { message, key, info in
                key.seal(message, info: info)
            }
        ) {
            self.token = token
            self.signature = signature
            self.seal = seal
        }
    }

    let configuration: Configuration

    package init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        _ = (input, now, effects)
    }
}
