internal import APIDescription
internal import Identity
internal import RegistrationModel
internal import TLSChannel
internal import WebClient

extension IdentityDoctor {
    /// Checks the host of a handle that no account has: names, certificate, and the program that answers.
    func handleFindings() async -> [IdentityFinding] {
        let domain = configuration.handleDomain
        guard !domain.isForDevelopment else { return [] }
        let host = "\(probe.freeLabel()).\(domain)"
        let found = addresses(of: host)
        guard !found.isEmpty else {
            return [
                .problem(
                    "no-wildcard",
                    "hosts of handles have no address: \(host) was not found",
                    because: "services of AT Protocol that ask the host of a handle do not find its DID",
                    advice: "add an A or AAAA record for *.\(domain) with the address of this server or of its proxy"
                )
            ]
        }
        let names = IdentityFinding.ok("wildcard", "hosts of handles have the address \(found[0])")
        return [names, await hostFinding(host, domain)]
    }

    private func hostFinding(_ host: String, _ domain: HandleDomain) async -> IdentityFinding {
        let url = "https://\(host)/.well-known/atproto-did"
        let reason = "services of AT Protocol that ask the host of a handle do not find its DID"
        switch await ask(url) {
        case .json(let document, 404) where document["error"]?["code"] == "handle-not-found":
            return .ok("handle-hosts", "the server answers at the hosts of handles")
        case .json(_, let status), .other(let status):
            return .problem(
                "handle-host-elsewhere",
                "another program answers at \(host) (status \(status))",
                because: reason,
                advice: "forward *.\(domain) to this server with the Host field unchanged"
            )
        case .failure(.tls(let error)):
            return .problem(
                "handle-certificate",
                "\(host): \(error)",
                because: reason,
                advice: "use a certificate that also names *.\(domain)"
            )
        case .failure(let error):
            return .problem(
                "handle-host-silent",
                "\(host) does not answer: \(error)",
                because: reason,
                advice: "forward port 443 of *.\(domain) to this server"
            )
        }
    }
}
