#if os(Linux)
internal import CryptoPrimitives
internal import ExitModel
internal import Identity
internal import Platform
internal import Testing

/// A request for redemption, as it travels.
struct RedemptionRequest {
    /// The public keys of one client.
    struct Client {
        let form: RedemptionForm

        init() throws {
            var random = SystemRandom()
            let key = X25519PrivateKey(using: &random).publicKey
            form = RedemptionForm(
                clientPublicKey: try #require(Bytes32(key.bytes)),
                encapsulationKey: try DecapsulationKey(using: &random).encapsulationKey()
            )
        }
    }

    /// The field with the token.
    let authorization: String
    let client: Client

    /// The body.
    var form: String { String(decoding: client.form.json, as: UTF8.self) }

    /// A request with the same token and other keys.
    func byAnotherClient() throws -> RedemptionRequest {
        RedemptionRequest(authorization: authorization, client: try Client())
    }
}
#endif
