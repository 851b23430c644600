package import Registration
internal import RegistrationModel

extension IdentityClient {
    /// Returns the facts that a registration begins with.
    ///
    /// They come over the connection that proves the server's name. A program for one operator has them in its configuration
    /// instead.
    package func facts() async throws(IdentityServiceError) -> IdentityServerFacts {
        struct Answer: Decodable {
            struct Agreement: Decodable {
                let version: String
                let text: String
            }

            let name: String
            let rpId: String
            let handleDomain: HandleDomain
            let agreement: Agreement
        }
        let answer: Answer
        do {
            answer = try await send("GET", "/pages/config.json")
        } catch .refused(_, _, 404) {
            throw .malformedAnswer(reason: "it has no page with the facts of the server")
        }
        return try IdentityServerFacts(
            name: answer.name,
            relyingPartyId: answer.rpId,
            domain: answer.handleDomain,
            agreement: Agreement(version: answer.agreement.version, text: answer.agreement.text)
        )
    }
}
