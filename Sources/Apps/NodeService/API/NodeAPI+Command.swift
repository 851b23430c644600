package import APIDescription
internal import Bytes
internal import Foundation
internal import HTTPAPI
package import NodeModel
internal import RunarNode

// Operations for the `runar` command alone, over the socket in the home: paths of this machine, secret keys, and services
// that another process answers.
extension Operations {
    /// The address of the console with a secret for one browser.
    package static let consoleAddress = Operation<NoPath, NoForm, ConsoleReport>(
        .post,
        "/console/address",
        .atThisDevice
    )

    /// Streams the path of a file that signs a browser in to the console, and waits until one has signed in.
    package static let openConsole = Operation<NoPath, NoForm, ConsoleReport>(
        .post,
        "/console/link",
        .atThisDevice,
        .updates([.consoleLink])
    )

    /// Sends a file of this machine.
    package static let sendLocalFile = Operation<PeerName, PathForm, FileSentReport>(
        .post,
        "/peers/{peer}/local-files",
        .atThisDevice,
        .updates([.transferred]),
        needsNetwork: true,
        requiredPeers: { peer, _ in .peer(peer) }
    )

    /// Streams arrivals until the request is cancelled.
    package static let listen = Operation<NoPath, ListenForm, DoneReport>(
        .post,
        "/listen",
        .atThisDevice,
        .updates([.listening, .message, .fileOffered, .offerEnded, .fileArrived, .fileFailed, .event]),
        needsNetwork: true
    )

    /// Offers a service; each request arrives as an update and is answered with ``answerCall``.
    package static let serve = Operation<NoPath, ServingForm, DoneReport>(
        .post,
        "/serve",
        .atThisDevice,
        .updates([.serving, .called, .callEnded]),
        needsNetwork: true,
        changes: [.services]
    )

    /// Answers a request to an offered service.
    package static let answerCall = Operation<RequestNumber, CallAnswerForm, DoneReport>(
        .post,
        "/calls/{number}",
        .atThisDevice,
        limit: NodeAPI.contentByteLimit
    )

    /// Confirms a message of ``listen``, which the next one waits for.
    package static let confirmDelivery = Operation<RequestNumber, NoForm, DoneReport>(
        .post,
        "/deliveries/{number}",
        .atThisDevice
    )

    /// A key with its private part.
    package static let exportKey = Operation<KeyName, NoForm, KeyReport>(.post, "/keys/{key}/export", .withVaultSecret)

    /// Stores a key.
    package static let importKey = Operation<KeyName, KeyImportForm, KeyReport>(
        .post,
        "/keys/{key}/import",
        .withVaultSecret,
        changes: [.keys, .networks]
    )

    /// The content of a backup.
    package static let backup = Operation<NoPath, NoForm, BackupContent>(.post, "/backup/content", .withVaultSecret)

    /// Makes this device the owner of the networks of a backup.
    package static let restore = Operation<NoPath, RestoreContentForm, RestoreReport>(
        .post,
        "/backup/content/restore",
        .withVaultSecret,
        limit: NodeAPI.contentByteLimit,
        changes: [.keys, .networks, .peers]
    )
}

extension NodeAPI {
    var commandOperations: [APIOperation] {
        [
            serve(Operations.consoleAddress) { _ in try consoleAddress() },
            stream(Operations.openConsole) { _ in { tell in try await openConsole(tell) } },
            stream(Operations.sendLocalFile) { request in
                let peer = try handler.resolve(request.path)
                return { tell in try await handler.sendFile(request.form.path, to: peer, tell) }
            },
            streamUpdates(Operations.listen) { request in { tell in try await handler.listen(request.form, tell) } },
            streamUpdates(Operations.serve) { request in { tell in try await handler.serve(request.form, tell) } },
        ] + answeringOperations
    }

    /// Answers to calls, confirmations of messages, and secret keys.
    private var answeringOperations: [APIOperation] {
        [
            serveAction(Operations.answerCall) { request in
                let answer: CallAnswer
                switch (request.form.result, request.form.failure) {
                case (let result?, nil): answer = .result(try ContentForm.decode(result, "result"))
                case (nil, let why?): answer = .failure(why)
                case (nil, nil), (_?, _?):
                    throw RouteRequest.badField("result", "or \"failure\" must give the outcome, but not both")
                }
                try handler.calls.answer(request.path.value, answer)
            },
            serveAction(Operations.confirmDelivery) { try handler.deliveries.answer($0.path.value, ()) },
            serve(Operations.exportKey) { try handler.exportKey($0.path.text, isRevealed: true) },
            serve(Operations.importKey) {
                try handler.importKey($0.path.text, hex: $0.form.hex, replacing: $0.form.replace)
            },
            serve(Operations.backup) { _ in try handler.backup() },
            serve(Operations.forgetAccount) { try await handler.forgetAccount($0.form) },
            serve(Operations.restore) { try await handler.restore($0.form.content, replacing: $0.form.replace) },
        ]
    }
}

extension EndpointRequest {
    /// Refuses a request that only processes of the node's own user may send.
    ///
    /// - Throws: ``RouteFailure`` for requests over the loopback interface or the local network.
    func checkUser() throws(RouteFailure) {
        guard origin.isOfUser else {
            throw RouteFailure(403, "only-user", "a path may be given only over the socket in the node's home")
        }
    }
}
