internal import Certificates
internal import HTTPAPI
internal import RegistrationModel

/// A diagnosis of an identity server: its settings, the ways to it, and its data.
///
/// It finds an operator's mistakes before people do. It changes no account, and works whether the server runs or not.
package struct IdentityDoctor: Sendable {
    let configuration: IdentityServerConfiguration
    /// The data directory.
    let directory: String
    let probe: IdentityProbe

    package init(_ configuration: IdentityServerConfiguration, directory: String, probe: IdentityProbe) {
        self.configuration = configuration
        self.directory = directory
        self.probe = probe
    }

    /// Runs all checks, in the order in which an operator repairs.
    package func findings() async -> [IdentityFinding] {
        let (data, keys) = await dataFindings()
        return settingFindings() + data + (await originFindings(keys)) + (await handleFindings())
    }

    /// The server's own page origin; nil for a server of apps alone.
    var ownPage: WebOrigin? { configuration.origins.first { $0.host != nil } }

    // MARK: Settings

    /// A certificate that ends sooner has a warning.
    private static let certificateWarningSeconds: UInt64 = 14 * 86_400

    private func settingFindings() -> [IdentityFinding] {
        var findings: [IdentityFinding] = []
        for origin in configuration.origins {
            guard let host = origin.host, !RelyingPartyName.covers(configuration.rpId, host: host) else { continue }
            findings.append(
                .warning(
                    "foreign-origin",
                    "the origin \(origin) is not at \(configuration.rpId)",
                    because: "only browsers with related origin requests offer passkeys there",
                    advice: "serve the page at \(configuration.rpId) or below it, or accept that"
                )
            )
        }
        let isEncrypted = ownPage?.description.hasPrefix("https:") == true
        if configuration.tls == nil, isEncrypted, configuration.trustedProxies.isEmpty {
            findings.append(
                .warning(
                    "no-trusted-proxy",
                    "the origin is https, this server has no certificate, and no proxy is trusted",
                    because: "all clients have the address of the proxy, and share its limits",
                    advice: "give --trusted-proxy with the address of the proxy, or a certificate"
                )
            )
        }
        if configuration.handleDomain.isForDevelopment, configuration.rpId != "localhost" {
            findings.append(
                .warning(
                    "test-handles",
                    "handles are under \(configuration.handleDomain), which no public server resolves",
                    because: "other services cannot find the DID of a handle",
                    advice: "give --handle-domain with a domain of yours"
                )
            )
        }
        if !configuration.hasLimits {
            findings.append(
                .warning(
                    "no-limits",
                    "the rate of requests is not limited",
                    because: "one client can keep all others waiting",
                    advice: "remove requestLimits off, which is for measurements"
                )
            )
        }
        findings += certificateFindings()
        return findings.isEmpty ? [.ok("settings", "the settings agree")] : findings
    }

    private func certificateFindings() -> [IdentityFinding] {
        guard let tls = configuration.tls else { return [] }
        let now = probe.wallSeconds()
        do throws(CertificateFilesError) {
            let end = try tls.read(at: now).endSeconds
            guard end < now + Self.certificateWarningSeconds else {
                return [.ok("certificate", "the certificate is good until \(Self.time(end))")]
            }
            return [
                .warning(
                    "certificate-ends",
                    "the certificate ends \(Self.time(end))",
                    because: "browsers refuse the server afterwards",
                    advice: "renew it; a running server takes the new files within ten seconds"
                )
            ]
        } catch {
            return [
                .problem(
                    "bad-certificate",
                    "\(error)",
                    because: "the server does not start",
                    advice: "give the chain and its key in PEM, as certbot writes them"
                )
            ]
        }
    }
}
