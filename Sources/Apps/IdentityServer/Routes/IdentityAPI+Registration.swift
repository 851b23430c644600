internal import APIDescription
internal import Bytes
internal import CommandModel
internal import CoreMetrics
internal import HTTPAPI
internal import IdentityStore
internal import NanoTDF
internal import RegistrationModel

extension IdentityAPI {
    var registrationEndpoints: [ServedEndpoint] {
        [
            IdentityEndpoints.beginRegistration.respond(rules) { request in
                guard request.path.handle == request.form.handle else { throw IdentityServerError.handleMismatch }
                let options = try await service.beginRegistration(
                    request.form.handle,
                    request.form.did,
                    from: client(of: request.route)
                )
                switch request.form.shape {
                case .flat?: return .json(JSONText.bytes(FlatChallenge(options)))
                case nil: return IdentityEndpoints.beginRegistration.report(CreationOptionsReport(publicKey: options))
                }
            },
            IdentityEndpoints.finishRegistration.respond(rules) { request in
                let report = try await service.finishRegistration(request.form, from: client(of: request.route))
                metrics.registrations.increment()
                return try answer(IdentityEndpoints.finishRegistration, report)
            },
            IdentityEndpoints.discover.serve(rules) { request in
                RequestOptionsReport(
                    publicKey: try await service.beginAuthentication(nil, from: client(of: request.route))
                )
            },
            IdentityEndpoints.beginAuthentication.serve(rules) { request in
                RequestOptionsReport(
                    publicKey: try await service.beginAuthentication(
                        request.path.handle,
                        from: client(of: request.route)
                    )
                )
            },
            IdentityEndpoints.finishAuthentication.respond(rules) { request in
                let report = try await service.finishAuthentication(request.form, from: client(of: request.route))
                metrics.signIns.increment()
                return try answer(IdentityEndpoints.finishAuthentication, report)
            },
        ]
    }

    var sessionEndpoints: [ServedEndpoint] {
        [
            IdentityEndpoints.refresh.respond(rules) { request in
                let user = try await user(of: request.route)
                let report = try await service.refresh(user, from: client(of: request.route))
                return try answer(IdentityEndpoints.refresh, report)
            },
            IdentityEndpoints.revoke.serve(rules) { request in
                let user = try await user(of: request.route)
                try await service.revoke(
                    user,
                    everywhere: request.form.everywhere ?? false,
                    from: client(of: request.route)
                )
                return DoneReport(done: true)
            },
            IdentityEndpoints.keys.serve(rules) { _ in
                TokenKeysReport(
                    issuer: configuration.issuer,
                    audience: configuration.audience,
                    keys: service.tokens.issuerKeys.map { key in
                        TokenKeyReport(
                            id: String(decoding: key.publicKey.identifier, as: UTF8.self),
                            publicKey: Base64URL.encode(key.publicKey.compressedRepresentation),
                            until: key.validUntil
                        )
                    }
                )
            },
            IdentityEndpoints.revocations.serve(rules) { request in
                let revoked = try await service.store.revocations(
                    after: min(request.form.after ?? 0, UInt64(Int64.max)),
                    limit: Self.revocationLimit
                )
                return RevocationsReport(
                    sessions: revoked.map { RevokedSessionReport(number: $0.number, id: $0.id, expires: $0.expires) }
                )
            },
        ]
    }

    /// The most revocations of one answer; a service asks again after the last one.
    private static let revocationLimit = 1_000
}
