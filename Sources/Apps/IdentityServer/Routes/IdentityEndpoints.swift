internal import APIDescription
internal import HTTPAPI
internal import Identity
internal import RegistrationModel
internal import WebAuthn

/// The endpoints of the identity server.
///
/// The paths and shapes of registration and sign-in are those of the Arkavo integration guide; XRPC and the well-known
/// files are those of AT Protocol, WebAuthn and Apple.
enum IdentityEndpoints {
    /// The most bytes of an attestation with its certificates, and of the rest of a form.
    private static let formLimit = 131_072
    private static let tokenField = ["x-auth-token": "The token of the new session, the same as in the body."]

    // MARK: Registration and sign-in

    static let beginRegistration = Endpoint<HandleSegment, RegisterQuery, CreationOptionsReport>(
        .get,
        "/register/{handle}",
        .none,
        notes: EndpointNotes(
            summary: "Begin a registration",
            details:
                "Returns the options of the passkey. Nothing is stored. With shape=flat the answer has challenge and "
                + "userID alone.",
            tags: ["registration"],
            failures: [409: "The handle or the DID has an account."]
        )
    )
    static let finishRegistration = Endpoint<NoPath, RegisterForm, SignedInReport>(
        .post,
        "/register",
        .none,
        limit: formLimit,
        notes: EndpointNotes(
            summary: "Complete a registration",
            details: "Stores the handle, the DID and the passkey together, or nothing, and signs in.",
            tags: ["registration"],
            answerFields: tokenField,
            failures: [
                403: "The passkey or the proof was refused.", 409: "The handle, the DID or the passkey is taken.",
            ]
        ),
        input: {
            Wire.registration(
                named: "RegisterForm",
                ["handle": (Handle.schema, true), "did": (DIDKey.schema, true), "didProof": (DIDProof.schema, true)]
            )
        }
    )
    static let discover = Endpoint<NoPath, NoForm, RequestOptionsReport>(
        .get,
        "/authenticate",
        .none,
        notes: EndpointNotes(summary: "Begin a sign-in with the passkey that the person chooses", tags: ["sign-in"])
    )
    static let beginAuthentication = Endpoint<HandleSegment, NoForm, RequestOptionsReport>(
        .get,
        "/authenticate/{handle}",
        .none,
        notes: EndpointNotes(
            summary: "Begin a sign-in with a handle",
            details: "A handle without an account gets an answer of the same form.",
            tags: ["sign-in"]
        )
    )
    static let finishAuthentication = Endpoint<NoPath, AuthenticationResponse, SignedInReport>(
        .post,
        "/authenticate",
        .none,
        limit: formLimit,
        notes: EndpointNotes(
            summary: "Complete a sign-in",
            tags: ["sign-in"],
            answerFields: tokenField,
            failures: [403: "The passkey was refused."]
        )
    )

    // MARK: Sessions

    static let refresh = Endpoint<NoPath, NoForm, SignedInReport>(
        .post,
        "/token/refresh",
        .signedIn,
        notes: EndpointNotes(summary: "Renew the session", tags: ["sessions"], answerFields: tokenField)
    )
    static let revoke = Endpoint<NoPath, RevokeForm, DoneReport>(
        .post,
        "/token/revoke",
        .signedIn,
        notes: EndpointNotes(summary: "End the session, or all sessions of the account", tags: ["sessions"])
    )
    static let keys = Endpoint<NoPath, NoForm, TokenKeysReport>(
        .get,
        "/keys",
        .none,
        notes: EndpointNotes(summary: "The keys that verify tokens", tags: ["sessions"])
    )
    static let revocations = Endpoint<NoPath, RevocationQuery, RevocationsReport>(
        .get,
        "/revocations",
        .none,
        notes: EndpointNotes(summary: "Sessions that ended before they expired", tags: ["sessions"])
    )

    // MARK: The account

    static let account = Endpoint<NoPath, NoForm, AccountReport>(
        .get,
        "/account",
        .signedIn,
        notes: EndpointNotes(summary: "The account of the token", tags: ["account"])
    )
    static let deleteAccount = Endpoint<NoPath, DeleteAccountForm, DoneReport>(
        .post,
        "/account/delete",
        .signedIn,
        limit: formLimit,
        notes: EndpointNotes(
            summary: "Delete the account",
            details: "A passkey of the account confirms it. Nothing of the account is kept.",
            tags: ["account"]
        )
    )
    static let passkeys = Endpoint<NoPath, NoForm, PasskeysReport>(
        .get,
        "/passkeys",
        .signedIn,
        notes: EndpointNotes(summary: "The passkeys of the account", tags: ["account"])
    )
    static let confirm = Endpoint<ActionSegment, NoForm, RequestOptionsReport>(
        .get,
        "/passkeys/confirm/{action}",
        .signedIn,
        notes: EndpointNotes(
            summary: "Begin the confirmation of an action with a passkey",
            details: "The actions are add, remove and delete.",
            tags: ["account"]
        )
    )
    static let beginAdding = Endpoint<NoPath, AddPasskeyForm, CreationOptionsReport>(
        .post,
        "/passkeys/options",
        .signedIn,
        limit: formLimit,
        notes: EndpointNotes(summary: "Begin a further passkey, confirmed by one of the account", tags: ["account"])
    )
    static let finishAdding = Endpoint<NoPath, NewPasskeyForm, PasskeysReport>(
        .post,
        "/passkeys",
        .signedIn,
        limit: formLimit,
        notes: EndpointNotes(summary: "Complete a further passkey", tags: ["account"]),
        input: { Wire.registration(named: "NewPasskeyForm", ["label": (.string, false)]) }
    )
    static let removePasskey = Endpoint<NoPath, RemovePasskeyForm, PasskeysReport>(
        .post,
        "/passkeys/remove",
        .signedIn,
        limit: formLimit,
        notes: EndpointNotes(
            summary: "Remove a passkey",
            tags: ["account"],
            failures: [409: "It is the only passkey of the account."]
        )
    )

    // MARK: Ceremonies of commands

    static let beginCeremony = Endpoint<NoPath, BeginCeremonyForm, CeremonyReport>(
        .post,
        "/ceremonies",
        .none,
        notes: EndpointNotes(summary: "Begin a ceremony that a person completes on a page", tags: ["ceremonies"])
    )
    static let ceremonyState = Endpoint<CeremonySegment, NoForm, CeremonyStateReport>(
        .get,
        "/ceremonies/{ceremony}",
        .ceremonySecret,
        endsWithClient: true,
        notes: EndpointNotes(
            summary: "The result of a ceremony, after its end or 25 seconds",
            tags: ["ceremonies"]
        )
    )
    static let cancelCeremony = Endpoint<CeremonySegment, NoForm, DoneReport>(
        .delete,
        "/ceremonies/{ceremony}",
        .ceremonySecret,
        notes: EndpointNotes(summary: "End a ceremony by its program", tags: ["ceremonies"])
    )
    static let ceremonyPage = Endpoint<CeremonySegment, NoForm, CeremonyPageReport>(
        .get,
        "/ceremonies/{ceremony}/options",
        .none,
        notes: EndpointNotes(summary: "A ceremony for its page", tags: ["ceremonies"])
    )
    static let completeRegistration = Endpoint<CeremonySegment, RegistrationResponse, DoneReport>(
        .post,
        "/ceremonies/{ceremony}/registration",
        .none,
        limit: formLimit,
        notes: EndpointNotes(summary: "Complete a registration on its page", tags: ["ceremonies"])
    )
    static let completeAuthentication = Endpoint<CeremonySegment, AuthenticationResponse, DoneReport>(
        .post,
        "/ceremonies/{ceremony}/authentication",
        .none,
        limit: formLimit,
        notes: EndpointNotes(summary: "Complete a sign-in on its page", tags: ["ceremonies"])
    )
    static let stopCeremony = Endpoint<CeremonySegment, NoForm, DoneReport>(
        .post,
        "/ceremonies/{ceremony}/stop",
        .none,
        notes: EndpointNotes(summary: "End a ceremony that its person did not begin", tags: ["ceremonies"])
    )

    // MARK: Handles

    static let resolve = Endpoint<NoPath, ResolveQuery, ResolveReport>(
        .get,
        "/xrpc/com.atproto.identity.resolveHandle",
        .none,
        notes: EndpointNotes(
            summary: "The DID of a handle",
            details: "Failures have the form of XRPC: error and message.",
            tags: ["handles"],
            failures: [404: "No account has the handle."]
        )
    )
    static let atprotoDid = Endpoint<NoPath, NoForm, NoAnswer>(
        .get,
        "/.well-known/atproto-did",
        .none,
        .text,
        notes: EndpointNotes(summary: "The DID of the handle that is the host", tags: ["handles"])
    )
    static let appleAssociation = Endpoint<NoPath, NoForm, AppleAssociationReport>(
        .get,
        "/.well-known/apple-app-site-association",
        .none,
        notes: EndpointNotes(summary: "The apps of Apple systems that may use the passkeys", tags: ["handles"])
    )
    static let relatedOrigins = Endpoint<NoPath, NoForm, RelatedOriginsReport>(
        .get,
        "/.well-known/webauthn",
        .none,
        notes: EndpointNotes(summary: "The origins that may use the passkeys", tags: ["handles"])
    )

    // MARK: Operation

    static let health = Endpoint<NoPath, NoForm, HealthReport>(
        .get,
        "/health",
        .none,
        notes: EndpointNotes(summary: "Whether the server can store", tags: ["operation"])
    )
    static let metrics = Endpoint<NoPath, NoForm, NoAnswer>(
        .get,
        "/metrics",
        .none,
        .text,
        notes: EndpointNotes(
            summary: "Measurements in the text format of Prometheus",
            details: "For this machine, or with the metrics token.",
            tags: ["operation"]
        )
    )
    static let pageFacts = Endpoint<NoPath, NoForm, PageFactsReport>(
        .get,
        "/pages/config.json",
        .none,
        notes: EndpointNotes(summary: "The facts that the pages show", tags: ["operation"])
    )
}

extension Credentials {
    /// A token, in the standard field or in that of the Arkavo integration guide.
    static let signedIn = Credentials([.bearer, .field("x-auth-token")])
    /// The secret of a ceremony.
    static let ceremonySecret = Credentials([.field("x-ceremony-secret")])
}
