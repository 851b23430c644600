internal import APIDescription
internal import Identity
internal import Platform
internal import RegistrationModel
internal import TLSChannel
internal import WebClient

extension IdentityDoctor {
    /// The outcome of a request for JSON.
    enum Answer {
        case json(JSONDocument, status: Int)
        case other(status: Int)
        case failure(WebClientError)
    }

    func ask(_ url: String) async -> Answer {
        do throws(WebClientError) {
            let response = try await probe.fetch(url)
            let document = try? JSONDocument(response.body)  // no JSON
            guard let document else { return .other(status: response.status) }
            return .json(document, status: response.status)
        } catch {
            return .failure(error)
        }
    }

    /// The addresses of a host; none if it has none.
    func addresses(of host: String) -> [IPAddress] {
        (try? probe.addresses(host))?.map(\.unmapped) ?? []  // its finding is that there are none
    }

    func originFindings(_ key: String?) async -> [IdentityFinding] {
        guard let own = ownPage, let host = own.host else { return [] }
        var findings: [IdentityFinding] = []
        if host != "localhost" {
            let finding = addressFinding(of: host)
            findings.append(finding)
            if finding.severity == .problem { return findings }
        }
        findings.append(await healthFinding(own))
        guard findings.last?.severity != .problem else { return findings }
        findings += [await identityFinding(own), await relatedFinding(own)]
        if let key { findings.append(await keyFinding(own, key)) }
        return findings
    }

    private func addressFinding(of host: String) -> IdentityFinding {
        let found = addresses(of: host)
        guard !found.isEmpty else {
            return .problem(
                "origin-unknown",
                "no address of \(host) was found",
                because: "no browser finds the server",
                advice: "add an A or AAAA record for \(host) with the address of this machine or of its proxy"
            )
        }
        let own = Set(probe.ownAddresses().map(\.unmapped)).union(configuration.trustedProxies.map(\.unmapped))
        let texts = found.map { "\($0)" }.joined(separator: ", ")
        guard found.contains(where: { own.contains($0) || $0.isLoopback }) else {
            return .warning(
                "origin-elsewhere",
                "\(host) has the address \(texts), which is neither of this machine nor of a trusted proxy",
                because: "requests reach this server only if that machine forwards them",
                advice: "check the record; behind a NAT or a proxy, forward the port to this machine"
            )
        }
        return .ok("origin-address", "\(host) has the address \(texts)")
    }

    /// Whether the server answers at its origin, with a certificate that browsers accept.
    private func healthFinding(_ own: WebOrigin) async -> IdentityFinding {
        switch await ask("\(own)/health") {
        case .json(let health, 200) where health["status"] == "ok":
            return .ok("reachable", "the server answers at \(own)")
        case .json(let health, 503) where health["status"] != nil:
            return .problem(
                "unhealthy",
                "the server at \(own) cannot store: \(health["message"]?.text ?? "the reason is in its log")",
                because: "registrations and sign-ins fail",
                advice: "check the disk and the rights of the data directory"
            )
        case .json(_, let status), .other(let status):
            return .problem(
                "other-server",
                "another program answers at \(own) (status \(status) for /health)",
                because: "the origin leads to it, or a proxy has no rule for this server",
                advice: "check the port of the origin, and the rules of the proxy"
            )
        case .failure(.tls(let error)):
            return .problem(
                "origin-certificate",
                "\(own): \(error)",
                because: "browsers refuse the server",
                advice: "renew or replace the certificate of \(own), with its whole chain"
            )
        case .failure(let error):
            return .problem(
                "unreachable",
                "\(own) does not answer: \(error)",
                because: "no browser reaches the server",
                advice:
                    "start it with `runar identity serve`, and check its port (\(configuration.port)) and the firewall"
            )
        }
    }

    /// Compares the settings of the server at the origin with those here.
    private func identityFinding(_ own: WebOrigin) async -> IdentityFinding {
        let advice = "restart the server after a change of settings, and check that the doctor has those of the server"
        guard case .json(let facts, 200) = await ask("\(own)/pages/config.json"),
            let rpId = facts["rpId"]?.text, let domain = facts["handleDomain"]?.text
        else {
            return .problem(
                "no-pages",
                "the server at \(own) has no /pages/config.json",
                because: "people cannot register on its pages",
                advice: "forward all paths to this server, not a part of them"
            )
        }
        guard rpId == configuration.rpId, domain == configuration.handleDomain.text else {
            return .problem(
                "other-settings",
                "the server at \(own) has passkeys of \(rpId) and handles under \(domain), "
                    + "not \(configuration.rpId) and \(configuration.handleDomain)",
                because: "it is another server, or it runs with other settings",
                advice: advice
            )
        }
        return .ok("same-settings", "the server at \(own) has passkeys of \(rpId) and handles under \(domain)")
    }

    /// Compares the origins that the server accepts with those here, as browsers read them.
    private func relatedFinding(_ own: WebOrigin) async -> IdentityFinding {
        let expected = Set(configuration.origins.filter { $0.host != nil }.map(\.description))
        guard case .json(let document, 200) = await ask("\(own)/.well-known/webauthn"),
            let origins = document["origins"]?.elements?.compactMap(\.text)
        else {
            return .problem(
                "no-origins",
                "the server at \(own) has no /.well-known/webauthn",
                because: "another program answers for a part of the paths",
                advice: "forward all paths to this server, /.well-known too"
            )
        }
        guard Set(origins) == expected else {
            return .problem(
                "other-origins",
                "the server at \(own) accepts \(origins.joined(separator: ", ")), not "
                    + expected.sorted().joined(separator: ", "),
                because: "passkeys are refused at pages of another origin; a port is a part of it",
                advice: "give each --origin as the browser shows it, and restart the server"
            )
        }
        return .ok("origins", "the server accepts the origins of the settings")
    }

    /// Whether the server at the origin signs with the key of this data.
    private func keyFinding(_ own: WebOrigin, _ key: String) async -> IdentityFinding {
        guard case .json(let document, 200) = await ask("\(own)/keys"),
            let ids = document["keys"]?.elements?.compactMap({ $0["id"]?.text }), ids.contains(key)
        else {
            return .problem(
                "other-data",
                "the server at \(own) signs with a key that this data does not have",
                because: "it is another server, or one with other data",
                advice: "check --data, and that the origin leads to this server"
            )
        }
        return .ok("same-data", "the server at \(own) uses this data")
    }
}
