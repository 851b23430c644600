package import APIDescription
internal import HTTPAPI
package import NodeModel

// The account of this device's person at an identity server.
extension Operations {
    /// The state of the account on this device, without a question to the server.
    package static let account = Operation<NoPath, NoForm, AccountStateReport>(.get, "/account", .overTheNetwork)

    /// The agreement of the identity server.
    package static let agreement = Operation<NoPath, IdentityServerQuery, AgreementReport>(
        .get,
        "/account/agreement",
        .atThisDevice
    )

    /// Registers a new account: the person continues on a page of the server.
    package static let registerAccount = Operation<NoPath, RegisterAccountForm, AccountStateReport>(
        .post,
        "/account/register",
        .atThisDevice,
        .updates([.account]),
        changes: [.circle, .keys]
    )

    /// Signs in to an account: the person continues on a page of the server.
    package static let login = Operation<NoPath, LoginForm, AccountStateReport>(
        .post,
        "/account/login",
        .atThisDevice,
        .updates([.account]),
        changes: [.circle, .keys]
    )

    /// Continues a registration that stopped.
    package static let reconnectAccount = Operation<NoPath, ReconnectForm, AccountStateReport>(
        .post,
        "/account/reconnect",
        .atThisDevice,
        .updates([.account]),
        changes: [.circle, .keys]
    )

    /// Ends the session, or all sessions of the account.
    package static let logout = Operation<NoPath, LogoutForm, LogoutReport>(
        .post,
        "/account/logout",
        .atThisDevice,
        changes: [.circle, .keys]
    )

    /// The passkeys of the account, by the token of this device.
    package static let accountPasskeys = Operation<NoPath, NoForm, AccountPasskeysReport>(
        .get,
        "/account/passkeys",
        .overTheNetwork
    )

    /// Removes the account, and its key if wanted, from this device.
    package static let forgetAccount = Operation<NoPath, ForgetAccountForm, DoneReport>(
        .post,
        "/account/forget",
        .withVaultSecret,
        changes: [.circle, .keys]
    )
}

extension NodeAPI {
    var accountOperations: [APIOperation] {
        [
            serve(Operations.account) { _ in try await handler.accountState() },
            serve(Operations.agreement) { try await handler.agreement(at: $0.form.server) },
            stream(Operations.registerAccount) { request in
                { tell in try await handler.register(request.form, tell) }
            },
            stream(Operations.login) { request in { tell in try await handler.login(request.form, tell) } },
            stream(Operations.reconnectAccount) { request in
                { tell in try await handler.reconnectAccount(request.form, tell) }
            },
            serve(Operations.logout) { try await handler.logout(everywhere: $0.form.everywhere ?? false) },
            serve(Operations.accountPasskeys) { _ in try await handler.accountPasskeys() },
        ]
    }
}
