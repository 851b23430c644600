internal import APIDescription
internal import CommandModel
package import HTTPAPI
internal import Identity
internal import IdentityStore
internal import RegistrationModel

extension IdentityAPI {
    /// A failure of XRPC.
    private struct XRPCFailure: Encodable {
        let error: String
        let message: String

        /// Readable by pages of every origin, as AT Protocol's services are.
        func answer(_ status: Int) -> RouteAnswer {
            RouteAnswer.json(JSONText.bytes(self), status: status).readableEverywhere
        }
    }

    var handleEndpoints: [ServedEndpoint] {
        [
            IdentityEndpoints.resolve.respond(rules) { request in
                guard let text = request.form.handle else {
                    return XRPCFailure(
                        error: "InvalidRequest",
                        message: "Error: Params must have the property \"handle\""
                    )
                    .answer(400)
                }
                let handle: QualifiedHandle
                do throws(DomainNameError) {
                    handle = try QualifiedHandle(text)
                } catch {
                    return XRPCFailure(error: "InvalidHandle", message: "\(error)").answer(400)
                }
                guard let did = try await did(of: handle) else {
                    return XRPCFailure(error: "HandleNotFound", message: "Unable to resolve handle").answer(404)
                }
                return IdentityEndpoints.resolve.report(ResolveReport(did: did)).readableEverywhere
            },
            IdentityEndpoints.atprotoDid.respond(rules) { request in
                guard let handle = handle(ofHost: request.route.host), let did = try await did(of: handle) else {
                    throw IdentityServerError.handleNotFound
                }
                return RouteAnswer.text(did.description).readableEverywhere
            },
            IdentityEndpoints.appleAssociation.serve(rules) { _ in
                guard !configuration.appleApps.isEmpty else { throw RouteFailure.noRoute }
                return AppleAssociationReport(webcredentials: .init(apps: configuration.appleApps))
            },
            IdentityEndpoints.relatedOrigins.serve(rules) { _ in
                RelatedOriginsReport(origins: configuration.origins.filter { $0.host != nil }.map(\.description))
            },
        ]
    }

    private func did(of handle: QualifiedHandle) async throws -> DIDKey? {
        guard let name = configuration.handleDomain.handle(of: handle) else { return nil }
        return try await service.store.account(handle: name)?.did
    }

    /// The handle whose host is the `Host` field; nil at the server's own hosts.
    private func handle(ofHost host: String?) -> QualifiedHandle? {
        guard let name = Self.name(ofHost: host), !configuration.origins.contains(where: { $0.host == name }),
            let handle = try? QualifiedHandle(name),  // another host
            configuration.handleDomain.handle(of: handle) != nil
        else { return nil }
        return handle
    }

    /// Refuses requests to the hosts of handles, which serve the DID and nothing else.
    package func refusal(_ head: RequestHead) -> RouteAnswer? {
        guard head.path != IdentityEndpoints.atprotoDid.template, handle(ofHost: head.host) != nil else { return nil }
        return .failure(RouteFailure(404, "handle-host", "this host serves the DID of its handle alone"))
    }

    private static func name(ofHost host: String?) -> String? {
        host?.split(separator: ":", maxSplits: 1).first.map { $0.lowercased() }
    }

    var operationEndpoints: [ServedEndpoint] {
        [
            IdentityEndpoints.health.respond(rules) { _ in
                let failure: String? =
                    service.store.writeFailure != nil
                    ? "the last change could not be stored"
                    : service.audit.hasFailed ? "the audit log could not be written" : nil
                return HealthReport(failure: failure).answer
            },
            IdentityEndpoints.metrics.respond(rules) { request in
                let isAdmitted = try request.route.mayReadMetrics(
                    of: configuration.metricsToken,
                    given: Credentials.bearer.token(in: request.route)
                )
                guard isAdmitted else { throw IdentityServerError.metricsRefused }
                return .text(try await metrics.text(service), contentType: IdentityMetrics.contentType)
            },
            IdentityEndpoints.pageFacts.serve(rules) { _ in
                PageFactsReport(
                    name: configuration.rpName,
                    rpId: configuration.rpId,
                    handleDomain: configuration.handleDomain.text,
                    agreement: .init(version: agreement.version, text: agreement.text)
                )
            },
        ]
    }
}

extension RouteAnswer {
    /// The answer with the field that lets pages of every origin read it.
    fileprivate var readableEverywhere: RouteAnswer {
        var answer = self
        answer.fields = HeaderFields(
            valid: [("Access-Control-Allow-Origin", "*"), ("Cross-Origin-Resource-Policy", "cross-origin")]
        )
        return answer
    }
}
