internal import APIDescription
internal import CoreMetrics
internal import HTTPAPI
internal import RegistrationModel

extension IdentityAPI {
    var accountEndpoints: [ServedEndpoint] {
        [
            IdentityEndpoints.account.serve(rules) { request in
                try await service.account(try await user(of: request.route))
            },
            IdentityEndpoints.deleteAccount.serve(rules) { request in
                let user = try await user(of: request.route)
                try await service.deleteAccount(request.form, user, from: client(of: request.route))
                return DoneReport(done: true)
            },
            IdentityEndpoints.passkeys.serve(rules) { request in
                try await service.passkeys(try await user(of: request.route))
            },
            IdentityEndpoints.confirm.serve(rules) { request in
                RequestOptionsReport(
                    publicKey: try await service.beginConfirmation(
                        of: request.path.action,
                        try await user(of: request.route),
                        from: client(of: request.route)
                    )
                )
            },
            IdentityEndpoints.beginAdding.serve(rules) { request in
                CreationOptionsReport(
                    publicKey: try await service.beginAdding(
                        request.form.assertion,
                        try await user(of: request.route),
                        from: client(of: request.route)
                    )
                )
            },
            IdentityEndpoints.finishAdding.serve(rules) { request in
                try await service.finishAdding(
                    request.form.response,
                    label: request.form.label,
                    try await user(of: request.route),
                    from: client(of: request.route)
                )
            },
            IdentityEndpoints.removePasskey.serve(rules) { request in
                try await service.removePasskey(
                    request.form,
                    try await user(of: request.route),
                    from: client(of: request.route)
                )
            },
        ]
    }

    var ceremonyEndpoints: [ServedEndpoint] {
        [
            IdentityEndpoints.beginCeremony.serve(rules) { request in
                try await service.beginCeremony(request.form, from: client(of: request.route))
            },
            IdentityEndpoints.ceremonyState.serve(rules) { request in
                try await service.ceremonyState(
                    request.path.text,
                    secret: try Credentials.ceremonySecret.token(in: request.route)
                )
            },
            IdentityEndpoints.cancelCeremony.serve(rules) { request in
                try service.cancelCeremony(
                    request.path.text,
                    secret: try Credentials.ceremonySecret.token(in: request.route)
                )
                return DoneReport(done: true)
            },
            IdentityEndpoints.ceremonyPage.serve(rules) { request in
                try await service.ceremonyPage(request.path.text, from: client(of: request.route))
            },
            IdentityEndpoints.completeRegistration.serve(rules) { request in
                try await service.completeCeremony(request.path.text, request.form, from: client(of: request.route))
                metrics.registrations.increment()
                return DoneReport(done: true)
            },
            IdentityEndpoints.completeAuthentication.serve(rules) { request in
                try await service.completeCeremony(request.path.text, request.form, from: client(of: request.route))
                metrics.signIns.increment()
                return DoneReport(done: true)
            },
            IdentityEndpoints.stopCeremony.serve(rules) { request in
                try service.stopCeremony(request.path.text)
                return DoneReport(done: true)
            },
        ]
    }
}
